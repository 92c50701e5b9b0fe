// The lease of one claim, kept with the settings of its consumer.
import type { Delivery } from '../../protocol/message.ts'
import type { ConsumeContext } from './consume-context.ts'
import { keepLease, type LeaseKeeper } from './lease-keeper.ts'

export function keepClaim(context: ConsumeContext, deliveries: readonly Delivery[], onLost: () => void): LeaseKeeper {
  const { transport, log, plan, leaseSeconds } = context
  return keepLease(transport, log, {
    leaseId: deliveries[0]?.leaseId ?? '',
    interval: plan.renewal,
    leaseSeconds,
    onLost,
  })
}
