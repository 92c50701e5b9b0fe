// The one table of routes. What is served, its reference page and its metrics are made from these rows.
import { analyticsRoutes } from './analytics.ts'
import { ackRoutes } from './ack.ts'
import { auditRoutes } from './audit.ts'
import { consumerGroupRoutes } from './consumer-groups.ts'
import { deadLetterMoveRoutes } from './dead-letter-moves.ts'
import { deadLetterRoutes } from './dead-letters.ts'
import { discoveryRoutes } from './pop-matching.ts'
import { ephemeralRoutes } from './ephemeral.ts'
import { fetchRoutes } from './fetch.ts'
import { groupReadRoutes } from './group-reads.ts'
import { healthRoutes } from './health.ts'
import { kvRoutes } from './kv.ts'
import { leaseRoutes } from './lease.ts'
import { lockRoutes } from './locks.ts'
import { messageRoutes } from './messages.ts'
import { openApiRoutes } from './openapi.ts'
import { overviewRoutes } from './overview.ts'
import { popRoutes } from './pop.ts'
import { pushRoutes } from './push.ts'
import { queueReadRoutes } from './queue-reads.ts'
import { queueRoutes } from './queues.ts'
import type { Route } from './route.ts'
import { runRoutes } from './runs.ts'
import { statusRoutes } from './status.ts'
import { streamClaimRoutes } from './stream-claims.ts'
import { streamRoutes } from './streams.ts'
import { scheduleRoutes } from './schedules.ts'
import { taskRoutes } from './tasks.ts'
import { timerRoutes } from './timers.ts'
import { traceRoutes } from './traces.ts'
import { transactionRoutes } from './transaction.ts'

const SERVED: readonly Route[] = [
  ...healthRoutes,
  ...auditRoutes,
  ...queueRoutes,
  ...queueReadRoutes,
  ...pushRoutes,
  ...popRoutes,
  ...discoveryRoutes,
  ...ackRoutes,
  ...leaseRoutes,
  ...transactionRoutes,
  ...kvRoutes,
  ...lockRoutes,
  ...timerRoutes,
  ...deadLetterRoutes,
  ...deadLetterMoveRoutes,
  ...messageRoutes,
  ...fetchRoutes,
  ...traceRoutes,
  ...consumerGroupRoutes,
  ...overviewRoutes,
  ...statusRoutes,
  ...analyticsRoutes,
  ...groupReadRoutes,
  ...runRoutes,
  ...scheduleRoutes,
  ...taskRoutes,
  ...streamRoutes,
  ...ephemeralRoutes,
  ...streamClaimRoutes,
]

export const ROUTES: readonly Route[] = [...SERVED, ...openApiRoutes(SERVED)]
