// What a handler may use, made once at the start. Handlers hold no state of their own.
import type { Database } from '../db/pool.ts'
import type { RunTraffic } from '../traffic/run-traffic.ts'
import type { Traffic } from '../traffic/traffic.ts'
import type { Authenticator } from './auth/authenticator.ts'
import type { HostRule } from './config.ts'
import type { Ephemeral } from './ephemeral/create-ephemeral.ts'
import type { HealthCheck } from './health-check.ts'
import type { AnswerBytes } from './http/answer-bytes.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'

export interface BrokerParts {
  readonly database: Database
  readonly traffic: Traffic
  readonly runs: RunTraffic
  readonly ephemeral: Ephemeral
  readonly health: HealthCheck
  readonly metrics: Metrics
  readonly logger: Logger
  readonly version: string
  /** Where a group that names no mode begins. */
  readonly defaultMode: 'all' | 'new'
  /** Answers that are not read yet. */
  readonly answers: AnswerBytes
  /** Null: everybody may call everything. */
  readonly auth: Authenticator | null
  /** By which names it is called, and which pages are its own. */
  readonly hosts: HostRule
  /** Refuse acks without a lease on every queue. */
  readonly requireLease: boolean
}
