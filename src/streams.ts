/// <reference lib="esnext.disposable" preserve="true" />
// The entry `./streams`: streams declared as values, and their aggregates. Apart from the client, which carries nothing of them until
// one is started; it names no Node module.
export { average, count, first, last, max, min, sum, type Aggregate } from './client/streams/aggregates.ts'
export {
  stream,
  type Fitting,
  type Foldable,
  type Gated,
  type Keyed,
  type KeyPlace,
  type Results,
  type Sinkable,
  type SinkOptions,
  type Stream,
  type StreamDefinition,
  type StreamSettings,
  type WindowPlace,
} from './client/streams/stream.ts'
export type { LateMessage } from './client/streams/fold-message.ts'
export type { RunningStream, StreamOptions, StreamPorts, StreamStatus } from './client/streams/run-stream.ts'
export type { StreamCounts, StreamFault } from './client/streams/stream-context.ts'
export type { ResultAt, SourceAt } from './client/streams/stream-plan.ts'
export type { SessionOptions, WindowOptions } from './client/streams/windows.ts'
