// `message.trace`: an event noted from a handler. A wrong one is refused; one that could not be sent is reported and fails
// nobody, because a trace is never worth a message.
import type { Delivery } from '../../protocol/message.ts'
import { placeOf } from '../consume/place-of.ts'
import { errorLine, type Logger } from '../logger.ts'
import type { Transport } from '../transport.ts'
import { outgoingTrace, type TraceInput } from './traces-client.ts'

export type NoteTrace = (delivery: Delivery, trace: TraceInput) => Promise<void>

export function noteTrace({ traces }: Pick<Transport, 'traces'>, log: Logger): NoteTrace {
  return async (delivery, trace) => {
    const outgoing = outgoingTrace(delivery, trace)
    try {
      await traces.add(outgoing)
    } catch (error) {
      log.warn({ ...placeOf(delivery), error: errorLine(error) }, 'a trace could not be noted')
    }
  }
}
