// The ack that a settlement asks for. A message whose commit lost is handed back and spends nothing, because the next read of
// the state usually ends it; one that loses again and again never will, so it is reported from the fifth delivery on and fails
// from the twentieth on, which brings it to the dead letters.
import type { AckItem, Delivery } from '../../protocol/message.ts'
import type { Verdict } from '../attempts.ts'
import type { ConsumeContext } from './consume-context.ts'
import { ackOf } from './lane-batch.ts'
import type { Settlement } from './settle.ts'

const REPORTED_FROM = 5
const FAILED_FROM = 20

function lostAck({ reportLost }: ConsumeContext, delivery: Delivery, { reason, error }: Verdict): AckItem {
  if (delivery.deliveryAttempt >= REPORTED_FROM) reportLost(delivery, reason, error)
  // A full queue is no fault of the message, and ends when its readers catch up.
  if (delivery.deliveryAttempt < FAILED_FROM || reason === 'queue_full') return ackOf(delivery, 'retry')
  return ackOf(delivery, 'failed', `its commit lost again and again: ${reason}: ${error}`)
}

export function settledAck(
  context: ConsumeContext,
  delivery: Delivery,
  { ack, error, lost }: Exclude<Settlement, { readonly ack: null }>,
): AckItem {
  return lost === undefined ? ackOf(delivery, ack, error) : lostAck(context, delivery, lost)
}
