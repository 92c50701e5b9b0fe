// Says that a message keeps losing its commit, once per message and consumer. Remembers a bounded number of messages.
import type { Delivery } from '../../protocol/message.ts'
import type { Logger } from '../logger.ts'
import { placeOf } from './place-of.ts'

export type ReportLost = (delivery: Delivery, reason: string, error: string) => void

const REMEMBERED = 1_000

export function reportLostOnce(log: Logger): ReportLost {
  const reported = new Set<string>()
  return (delivery, reason, error) => {
    const key = `${delivery.partitionId} ${delivery.offset}`
    if (reported.has(key)) return
    for (const oldest of reported) {
      if (reported.size < REMEMBERED) break
      reported.delete(oldest)
    }
    reported.add(key)
    log.warn(
      { ...placeOf(delivery), reason, error },
      'a message loses its commit again and again; does its handler look at the state before it commits?',
    )
  }
}
