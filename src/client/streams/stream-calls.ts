// What a stream's runner asks of a transport: the calls of the wire, with expected losses as values. A registration under
// another configuration is thrown (`stream_conflict`), since its caller can do nothing else with it.
import type {
  ClaimedPartitions,
  RegisteredStream,
  RipePartitions,
  RipeQuery,
  StateQuery,
  StateRow,
  StreamClaim,
  StreamCycle,
  StreamCycleResult,
  StreamRegistration,
} from '../../protocol/stream.ts'

/** Of a cycle, what a runner reads. */
export type CycleVerdict =
  | Pick<Extract<StreamCycleResult, { readonly success: true }>, 'success'>
  | Extract<StreamCycleResult, { readonly success: false }>

export interface StreamCalls {
  register(stream: StreamRegistration): Promise<RegisteredStream>
  state(query: StateQuery): Promise<readonly StateRow[]>
  /** Sent twice it is applied once. */
  cycle(cycle: StreamCycle): Promise<CycleVerdict>
  /** Null: the stream is registered no more. */
  claim(claim: StreamClaim): Promise<ClaimedPartitions | null>
  /** Null: the stream is registered no more. */
  ripe(query: RipeQuery): Promise<RipePartitions | null>
}
