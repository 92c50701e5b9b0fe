// The verbs about runs through the broker. A submission goes by the name that workers registered: a graph's nodes are planned
// there. Everything may be repeated but a signal: a run has its id, and a verb on it finds what it did.
import { optional, oneOf, boolean, integer, list, isRecord } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { CUT, inArray, inObject } from '../../protocol/json-slices.ts'
import type { MissingReason, ShownNode, ShownRun, Submitted } from '../../protocol/run.ts'
import type { RunCalls } from '../../workflow/run/run-calls.ts'
import { fieldsIn, plainText, readAnswer, recordIn, recordsIn, textIn } from './answer-reader.ts'
import { runsBody } from './bodies.ts'
import { httpCall, type HttpAnswer, type HttpSettings } from './http-call.ts'

const text = optional(plainText, null)
const count = integer(0, Number.MAX_SAFE_INTEGER)
const RUN = {
  state: plainText,
  kind: plainText,
  workflow: plainText,
  version: text,
  attempt: count,
  priority: integer(-1_000, 1_000),
  tags: list(1_000, plainText),
  key: text,
  createdAt: plainText,
  finishedAt: text,
  occurrence: text,
} as const
const NODE = {
  ordinal: count,
  name: plainText,
  kind: plainText,
  state: plainText,
  action: text,
  itemOf: optional(count, null),
  itemKey: text,
  onFailure: plainText,
  attempt: count,
  finishedAt: text,
} as const
const SUBMITTED = { runId: plainText, created: boolean, conflict: boolean } as const
const STATE = { state: plainText } as const
const TAKEN = { taken: boolean, state: text } as const
const REASON = oneOf('uncommitted', 'rolled_back', 'unknown')

const VALUES = { output: CUT, error: CUT, progress: CUT }

/** JSON null stands for nothing here. */
function valueIn(
  answer: ReturnType<typeof readAnswer>,
  source: ReturnType<typeof recordIn>,
  name: string,
): string | null {
  const value = textIn(answer, source, name)
  return value === 'null' ? null : value
}

function shownIn(body: string): ShownRun {
  const answer = readAnswer(body, inObject(VALUES))
  const source = recordIn(answer.envelope)
  const run = fieldsIn(RUN, source)
  const output = textIn(answer, source, 'output')
  // A graph without an output function has none of its own; any other completed run has one, be it null.
  const none = output === 'null' && (run.kind === 'graph' || run.state !== 'completed')
  return {
    ...run,
    output: none ? null : output,
    error: valueIn(answer, source, 'error'),
    progress: valueIn(answer, source, 'progress'),
  }
}

function nodesIn(body: string): readonly ShownNode[] {
  const answer = readAnswer(body, inObject({ nodes: inArray(inObject(VALUES)) }))
  return recordsIn(recordIn(answer.envelope)['nodes'], null).map((source) => ({
    ...fieldsIn(NODE, source),
    output: textIn(answer, source, 'output'),
    error: valueIn(answer, source, 'error'),
    progress: valueIn(answer, source, 'progress'),
  }))
}

function missingIn(error: unknown): MissingReason | null {
  if (!(error instanceof LockstepError) || error.code !== 'run_not_found') return null
  const { reason } = error.details
  return REASON.read(
    reason === 'uncommitted' || reason === 'rolled_back' ? reason : 'unknown',
    { parent: null, step: '' },
    'reason',
  )
}

export function httpRunCalls(settings: HttpSettings): RunCalls {
  const at = (runId: string): string => `/api/v1/runs/${encodeURIComponent(runId)}`
  const get = async (path: string): Promise<HttpAnswer> => httpCall(settings, { method: 'GET', path, repeatable: true })

  async function verb(runId: string, name: string, body: string, repeatable: boolean): Promise<string | null> {
    try {
      return (await httpCall(settings, { method: 'POST', path: `${at(runId)}/${name}`, body, repeatable })).text
    } catch (error) {
      if (missingIn(error) !== null) return null
      throw error
    }
  }
  const stateOf = (body: string | null): string =>
    body === null ? 'not_found' : fieldsIn(STATE, readAnswer(body, {}).envelope).state

  return {
    async submit(runs): Promise<Submitted> {
      const { text: answered } = await httpCall(settings, {
        method: 'POST',
        path: '/api/v1/runs',
        body: runsBody(runs),
        repeatable: true,
      })
      const { envelope } = readAnswer(answered, {})
      const listed = isRecord(envelope) ? envelope['runs'] : null
      const submitted = recordsIn(listed, runs.length).map((source) => fieldsIn(SUBMITTED, source))
      return {
        runs: submitted.map(({ runId, created, conflict }) => ({ runId, created, differs: conflict })),
        xid: null,
      }
    },
    async show(runId, xid) {
      try {
        return shownIn((await get(`${at(runId)}${xid === null ? '' : `?xid=${xid}`}`)).text)
      } catch (error) {
        const missing = missingIn(error)
        if (missing === null) throw error
        return { missing }
      }
    },
    nodes: async (runId) => nodesIn((await get(`${at(runId)}/nodes`)).text),
    async ended(runId, timeoutMs, signal) {
      try {
        const path = `${at(runId)}/result?wait=true&timeout=${Math.max(1, timeoutMs)}`
        const given = signal === null ? {} : { signal }
        return (
          (await httpCall(settings, { method: 'GET', path, repeatable: true, parkedMs: timeoutMs, ...given }))
            .status === 200
        )
      } catch (error) {
        if (signal?.aborted === true || missingIn(error) !== null) return false
        throw error
      }
    },
    cancel: async (runId, reason) => stateOf(await verb(runId, 'cancel', JSON.stringify({ reason }), true)),
    retry: async (runId) => stateOf(await verb(runId, 'retry', '{}', true)),
    async signal(runId, name, payload) {
      const body = await verb(runId, 'signal', `{"name":${JSON.stringify(name)},"payload":${payload}}`, false)
      if (body === null) return 'not_found'
      const { taken, state } = fieldsIn(TAKEN, readAnswer(body, {}).envelope)
      return taken ? 'ok' : (state ?? 'completed')
    },
    // A broker's workers hear of submissions by themselves; those of a transaction are found by their poll.
    wake: async () => {},
  }
}
