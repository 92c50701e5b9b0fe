// `lockstep run list`: runs, newest first.

import { listRuns } from '../../operations/list-runs.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { showTable } from '../show-table.ts'
import { storedJson } from '../stored-json.ts'

const STATES = ['pending', 'running', 'sleeping', 'compensating', 'completed', 'failed', 'cancelled']

export const runList: Command = {
  name: 'run list',
  summary: 'List runs of workflows and jobs, newest first.',
  detail: 'A state or a tag is looked for among the newest 10,000, of the workflow where one is named.',
  arguments: [{ name: 'workflow', meaning: 'Only of this workflow or action.', optional: true }],
  options: {
    state: { kind: 'choice', choices: STATES, value: 'STATE', meaning: 'Only in this state.' },
    tag: { kind: 'text', value: 'TAG', meaning: 'Only with this tag.' },
    limit: { kind: 'integer', min: 1, max: 1000, value: 'N', meaning: 'At most so many.', fallback: '20' },
    ...DATABASE_OPTIONS,
  },
  examples: ['lockstep run list', 'lockstep run list fulfil_order --state failed --json'],
  async run(call) {
    const workflow = call.argument('workflow')
    return await withDatabase(call, async (database) => {
      const runs = await listRuns(database.reader, {
        workflow: workflow === '' ? null : workflow,
        state: call.text('state'),
        tag: call.text('tag'),
        before: null,
        limit: call.integer('limit') ?? 20,
      })
      call.output.result({ runs: runs.map(storedJson) }, () =>
        showTable(
          ['run', 'workflow', 'state', 'attempt', 'made', 'ended', 'tags'],
          runs.map((run) => [
            run.runId,
            run.workflow,
            run.state,
            run.attempt,
            run.createdAt.slice(0, 19),
            run.finishedAt?.slice(0, 19) ?? '',
            run.tags.join(' '),
          ]),
          call.text('state') === null && call.text('tag') === null
            ? 'There is no such run.'
            : 'There is no such run among the newest 10,000.',
        ),
      )
      return 0
    })
  },
}
