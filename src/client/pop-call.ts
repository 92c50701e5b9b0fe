// From a plan to one pop of it, for both transports.
import { refuse, root } from '../protocol/check.ts'
import { QUEUE_MODE } from '../protocol/message.ts'
import type { Plan } from './plan.ts'
import type { PopCall } from './transport.ts'

export function popCall(
  plan: Plan,
  asked: Pick<PopCall, 'batch' | 'wait' | 'timeoutMs'>,
  onConflict: () => void,
): PopCall {
  if (plan.conflation && plan.group === QUEUE_MODE) {
    refuse(root(), 'group', 'named: conflation is a property of a group')
  }
  return {
    ...asked,
    queue: plan.definition.name,
    partition: plan.partition,
    group: plan.group,
    partitions: plan.partitions,
    leaseSeconds: plan.leaseSeconds,
    start: plan.start,
    conflation: plan.conflation,
    onConflict,
  }
}
