// `lockstep run tail`: follows a run until it ends, a line for each change of it, of a node or of a step of code.

import { setTimeout as sleep } from 'node:timers/promises'
import { runNodes } from '../../operations/run-nodes.ts'
import { runSteps } from '../../operations/run-steps.ts'
import { showRun } from '../../operations/show-run.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { errorWords } from '../error-words.ts'
import { noSuchRun } from '../no-such-run.ts'
import { RUN_ARGUMENT, runId } from '../run-id.ts'
import { visible } from '../show-table.ts'
import { rawJson } from '../write-json.ts'

const PAUSE_MS = 300

export const runTail: Command = {
  name: 'run tail',
  summary: 'Follow a run until it ends.',
  detail: 'With --json each change is one line. Ends with status 1 when the run did not complete.',
  arguments: [RUN_ARGUMENT],
  options: DATABASE_OPTIONS,
  examples: ['lockstep run tail 01a227d9-6709-7029-9680-345d117a9c71'],
  async run(call) {
    const id = runId(call)
    return await withDatabase(call, async (database) => {
      const known = new Map<string, string>()
      const tell = (what: string, state: string, error: string | null, progress: string | null): void => {
        const line = `${state} ${error ?? progress ?? ''}`
        if (known.get(what) === line) return
        known.set(what, line)
        const note = error ?? progress
        call.output.result({ what, state, note: note === null ? null : rawJson(note) }, () =>
          visible(`${what}: ${state} ${error === null ? (progress ?? '') : errorWords(error)}`.trimEnd()),
        )
      }
      for (;;) {
        const run = await showRun(database.reader, id, null)
        if ('missing' in run) throw noSuchRun(id)
        for (const node of await runNodes(database.reader, id)) {
          if (node.ordinal > 0) tell(node.name, node.state, node.error, node.progress)
        }
        const steps = run.kind === 'flow' ? await runSteps(database.reader, id) : []
        for (const step of steps)
          tell(step.name, step.state === 'sleeping' && step.over ? 'slept' : step.state, step.error, null)
        tell(run.workflow, run.state, run.error, run.progress)
        if (run.finishedAt !== null) return run.state === 'completed' ? 0 : 1
        await sleep(PAUSE_MS)
      }
    })
  },
}
