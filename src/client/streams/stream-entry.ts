// The client's word for streams. It knows a definition by its type alone: what a stream is made of comes along with the definition,
// so that a client which runs none carries nothing of it.
import { refuse, root } from '../../protocol/check.ts'
import type { RunningStream, StreamOptions, StreamPorts } from './run-stream.ts'
import type { StreamDefinition } from './stream.ts'

export interface StartStream {
  /** Registers the stream and runs it here until `stop`, its signal or the client's close. Throws `stream_conflict` when it is registered with another shape. */
  start(options?: StreamOptions): Promise<RunningStream>
}

export type StreamEntry = (definition: StreamDefinition) => StartStream

export function streamEntry(ports: StreamPorts): StreamEntry {
  return (definition) => {
    if (typeof definition?.begin !== 'function')
      refuse(root(), 'stream', "a stream declared with stream(…) of 'lockstep/streams' and ended by to(…)")
    return { start: async (options = {}) => definition.begin(ports, options) }
  }
}
