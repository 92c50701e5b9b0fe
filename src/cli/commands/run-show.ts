// `lockstep run show`: one run with its nodes or recorded steps and what went wrong.

import { runNodes } from '../../operations/run-nodes.ts'
import { runSteps, type ShownStep } from '../../operations/run-steps.ts'
import { showRun } from '../../operations/show-run.ts'
import type { ShownNode, ShownRun } from '../../protocol/run.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { errorWords } from '../error-words.ts'
import { noSuchRun } from '../no-such-run.ts'
import { RUN_ARGUMENT, runId } from '../run-id.ts'
import { showTable, visible } from '../show-table.ts'
import { storedJson } from '../stored-json.ts'

function headOf(id: string, run: ShownRun): readonly string[] {
  const ended = run.finishedAt === null ? '' : `, ended ${run.finishedAt}`
  return [
    `${visible(run.workflow)} ${id}: ${run.state}`,
    `made ${run.createdAt}${ended}, attempt ${run.attempt}`,
    ...(run.occurrence === null ? [] : [`for the slot ${run.occurrence}`]),
    ...(run.key === null ? [] : [`key ${visible(run.key)}`]),
    ...(run.progress === null ? [] : [`progress ${visible(run.progress)}`]),
    ...(run.output === null ? [] : [`output ${visible(run.output)}`]),
    ...(run.error === null || run.state === 'completed' ? [] : [`error ${errorWords(run.error)}`]),
  ]
}

const nodeTable = (nodes: readonly ShownNode[]): string =>
  showTable(
    ['node', 'state', 'attempt', 'ended', 'error'],
    nodes.map((node) => [
      node.name,
      node.state,
      node.attempt,
      node.finishedAt?.slice(0, 19) ?? '',
      // Of one that came through, what it stumbled over is told by --json.
      node.state === 'done' ? '' : errorWords(node.error),
    ]),
    '',
  )

function noteOf(step: ShownStep): string {
  if (step.child !== null) return `run ${step.child}`
  if (step.error !== null) return errorWords(step.error)
  return step.dueAt === null ? '' : `until ${step.dueAt.slice(0, 19)}`
}

const stepTable = (steps: readonly ShownStep[]): string =>
  showTable(
    ['step', 'state', 'since', 'note'],
    steps.map((step) => [
      step.name,
      step.state === 'sleeping' && step.over ? 'slept' : step.state,
      step.createdAt.slice(0, 19),
      noteOf(step),
    ]),
    '',
  )

export const runShow: Command = {
  name: 'run show',
  summary: 'Show a run, its nodes or steps, its output or error.',
  arguments: [RUN_ARGUMENT],
  options: DATABASE_OPTIONS,
  examples: ['lockstep run show 01a227d9-6709-7029-9680-345d117a9c71'],
  async run(call) {
    const id = runId(call)
    return await withDatabase(call, async (database) => {
      const run = await showRun(database.reader, id, null)
      if ('missing' in run) throw noSuchRun(id)
      const nodes = (await runNodes(database.reader, id)).filter((node) => node.ordinal > 0)
      const steps = run.kind === 'flow' ? await runSteps(database.reader, id) : []
      const value = { runId: id, ...storedJson(run), nodes: nodes.map(storedJson), steps: steps.map(storedJson) }
      call.output.result(value, () =>
        [headOf(id, run).join('\n'), stepTable(steps), nodeTable(nodes)].filter((part) => part !== '').join('\n\n'),
      )
      return 0
    })
  },
}
