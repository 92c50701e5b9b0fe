// Whether what is due has somebody to do it: steps and runs that wait for an action or a version that no live worker has.

import type { Row } from '../../db/executor.ts'
import type { Check, Finding } from '../examine.ts'
import { fine, warn } from './finding.ts'

export const examineWorkers: Check = async (database) => {
  const rows = await database.reader.rows('select * from lockstep.unclaimed_work()', [])
  if (rows.length === 0) return [fine('workers', 'nothing waits for an action or a version that no live worker has')]
  return rows.map(waitingFinding)
}

function waitingFinding([want = '', waiting, seconds, others]: Row): Finding {
  const [, kind, workflow = '', version] = /^(plan|flow):(.*?)(?:@([^@]*))?$/.exec(want ?? '') ?? []
  const many = Number(waiting) > 10_000 ? 'more than 10000' : (waiting ?? '')
  const since = `the oldest for ${seconds ?? ''} s`
  if (kind === undefined) {
    const seen = `${many} steps wait for action '${want}', which no live worker has, ${since}`
    return warn('workers', seen, `start a worker that has it and serves its queue`)
  }
  if (version === undefined) {
    const seen = `${many} runs wait for workflow '${workflow}', which no live worker has, ${since}`
    return warn('workers', seen, 'start a worker that has it')
  }
  const live = others === null || others === undefined ? 'none has another' : `they have ${others}`
  return warn(
    'workers',
    `${many} runs wait for version ${version} of workflow '${workflow}', which no live worker has (${live}), ${since}`,
    'run a worker with the code of that version until they have ended, or cancel them: lockstep run list',
  )
}
