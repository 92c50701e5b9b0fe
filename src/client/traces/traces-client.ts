// `lockstep.traces`: events of a message's way, noted under names and read again by message or by name. The message is not
// looked for, so a trace may outlive it.
import { integer, optional, readFields, root } from '../../protocol/check.ts'
import { jsonText } from '../../protocol/json-text.ts'
import { LIMITS } from '../../protocol/limits.ts'
import type { NamedTrace, OutgoingTrace, Page, Trace, TraceName } from '../../protocol/trace.ts'
import { checkTraceData, TRACE_BODY, traceName, traceNames } from '../../protocol/trace-fields.ts'
import { messageRef, type MessageRef } from '../messages/messages-client.ts'
import type { Untyped } from '../untyped.ts'

/** What is noted. */
export interface TraceInput {
  readonly data: unknown
  /** Names that it is found under. */
  readonly traceName?: string | readonly string[] | undefined
  /** 'info' unless said. */
  readonly eventType?: string | undefined
  readonly workerId?: string | undefined
}

/** A message as it was delivered, or its address. */
export interface Traced extends MessageRef {
  readonly consumerGroup?: string | undefined
}

export interface TraceEntry extends Omit<Trace, 'data'> {
  readonly data: Untyped
  /** The data exactly as it was noted, as text. */
  readonly text: string
}

export interface NamedTraceEntry extends TraceEntry, Omit<NamedTrace, keyof Trace | 'payload'> {
  /** The message's payload; null when it is no longer kept. */
  readonly payload: Untyped
}

export interface TracePage {
  /** At most 1,000; 100 unless said. */
  readonly limit?: number | undefined
  /** Leave out the newest so many. */
  readonly offset?: number | undefined
}

/** What a transport does for it. */
export interface TraceCalls {
  add(trace: OutgoingTrace): Promise<string>
  ofMessage(ref: MessageRef, limit: number): Promise<readonly Trace[]>
  ofName(name: string, page: Page): Promise<{ readonly traces: readonly NamedTrace[]; readonly total: number }>
  names(page: Page): Promise<{ readonly names: readonly TraceName[]; readonly total: number }>
}

export interface Traces {
  add(message: Traced, trace: TraceInput): Promise<{ readonly id: string }>
  /** Newest first. */
  ofMessage(message: MessageRef, options?: Pick<TracePage, 'limit'>): Promise<readonly TraceEntry[]>
  /** Newest first, with their messages where they are still kept. */
  ofName(
    name: string,
    options?: TracePage,
  ): Promise<{ readonly traces: readonly NamedTraceEntry[]; readonly total: number }>
  /** The most recently used first. */
  names(options?: TracePage): Promise<{ readonly names: readonly TraceName[]; readonly total: number }>
}

const PAGE = {
  limit: optional(integer(1, LIMITS.listLimit), LIMITS.listLimitDefault),
  offset: optional(integer(0, 1_000_000_000), 0),
} as const

export function outgoingTrace(message: Traced, trace: TraceInput): OutgoingTrace {
  const { data, traceName: given, ...fields }: Partial<TraceInput> = trace ?? {}
  const { partitionId, transactionId, consumerGroup } = message
  const named = { ...fields, partitionId, transactionId, consumerGroup, traceNames: null }
  const { consumerGroup: group, traceNames: _, ...read } = readFields(TRACE_BODY, named, root())
  const names = traceNames.read(given, root(), 'traceName')
  return { ...read, group, names, data: checkTraceData(jsonText(data, 'data'), root()) }
}

const entryOf = <T extends Trace>(trace: T): Omit<T, 'data'> & Pick<TraceEntry, 'data' | 'text'> => ({
  ...trace,
  data: JSON.parse(trace.data),
  text: trace.data,
})

export function tracesClient(calls: TraceCalls): Traces {
  return {
    add: async (message, trace) => ({ id: await calls.add(outgoingTrace(message, trace)) }),
    async ofMessage(message, options = {}) {
      const { limit } = readFields(PAGE, options, root())
      return (await calls.ofMessage(messageRef(message), limit)).map(entryOf)
    },
    async ofName(name, options = {}) {
      const page = readFields(PAGE, options, root())
      const { traces, total } = await calls.ofName(traceName.read(name, root(), 'name'), page)
      const listed = traces.map((trace) => ({
        ...entryOf(trace),
        payload: trace.payload === null ? null : JSON.parse(trace.payload),
      }))
      return { traces: listed, total }
    },
    names: async (options = {}) => calls.names(readFields(PAGE, options, root())),
  }
}
