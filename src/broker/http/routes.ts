// The one table of routes. What is served, its reference page and its metrics are made from these rows.
import { ackRoutes } from './ack.ts'
import { healthRoutes } from './health.ts'
import { kvRoutes } from './kv.ts'
import { leaseRoutes } from './lease.ts'
import { popRoutes } from './pop.ts'
import { pushRoutes } from './push.ts'
import type { Route } from './route.ts'
import { transactionRoutes } from './transaction.ts'

export const ROUTES: readonly Route[] = [
  ...healthRoutes,
  ...pushRoutes,
  ...popRoutes,
  ...ackRoutes,
  ...leaseRoutes,
  ...transactionRoutes,
  ...kvRoutes,
]
