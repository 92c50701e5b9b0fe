// `lockstep run show`: one run with its nodes and what went wrong.

import { runNodes } from '../../operations/run-nodes.ts'
import { showRun } from '../../operations/show-run.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { noSuchRun } from '../no-such-run.ts'
import { RUN_ARGUMENT, runId } from '../run-id.ts'
import { showTable } from '../show-table.ts'

export const runShow: Command = {
  name: 'run show',
  summary: 'Show a run, its nodes, its output or error.',
  arguments: [RUN_ARGUMENT],
  options: DATABASE_OPTIONS,
  examples: ['lockstep run show 01a227d9-6709-7029-9680-345d117a9c71'],
  async run(call) {
    const id = runId(call)
    return await withDatabase(call, async (database) => {
      const run = await showRun(database.reader, id, null)
      if ('missing' in run) throw noSuchRun(id)
      const nodes = (await runNodes(database.reader, id)).filter((node) => node.ordinal > 0)
      call.output.result({ runId: id, ...run, nodes }, () => {
        const lines = [
          `${run.workflow} ${id}: ${run.state}`,
          `made ${run.createdAt}${run.finishedAt === null ? '' : `, ended ${run.finishedAt}`}, attempt ${run.attempt}`,
          ...(run.progress === null ? [] : [`progress ${run.progress}`]),
          ...(run.output === null ? [] : [`output ${run.output}`]),
          ...(run.error === null ? [] : [`error ${run.error}`]),
        ]
        if (nodes.length === 0) return lines.join('\n')
        const table = showTable(
          ['node', 'state', 'attempt', 'ended', 'error'],
          nodes.map((node) => [
            node.name,
            node.state,
            node.attempt,
            node.finishedAt?.slice(0, 19) ?? '',
            node.error ?? '',
          ]),
          '',
        )
        return `${lines.join('\n')}\n\n${table}`
      })
      return 0
    })
  },
}
