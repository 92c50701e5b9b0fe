// The retry, limit and time settings of an action or a workflow, checked once where it is defined, in milliseconds.
import { integer, refuse, root } from '../../protocol/check.ts'
import { durationMs } from '../../protocol/durations.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { onlyKnown } from '../../protocol/only-known.ts'
import { demandFunction } from './demand-parts.ts'

/** '30s', '5m', '2h', '7d', or whole milliseconds. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}` | number

export interface RetryOptions {
  /** In all, the first one counted; default 5. */
  readonly attempts?: number | undefined
  /** Before the second attempt; doubled before each further one, with jitter. Default '1s'. */
  readonly backoff?: Duration | undefined
  /** The longest pause. Default '1h'. */
  readonly maxBackoff?: Duration | undefined
}

export interface ConcurrencyOptions<In> {
  /** How many run at once, over all workers. */
  readonly limit: number
  /** Per key; without it all share one. Jobs and calls have keys; the nodes of graphs share one per action. */
  readonly key?: ((input: In) => string) | undefined
}

export interface RateOptions<In> {
  /** Starts per period, over all workers, evenly spread. */
  readonly limit: number
  readonly per: Duration
  readonly key?: ((input: In) => string) | undefined
}

export interface RetentionOptions {
  /** How long completed runs are kept; default '30d'. */
  readonly completed?: Duration | undefined
  /** How long failed and cancelled ones are; default '90d'. */
  readonly failed?: Duration | undefined
}

export interface Limit {
  readonly max: number | null
  readonly intervalMs: number | null
  readonly keyOf: ((input: unknown) => string) | null
}

export interface Policy {
  readonly maxAttempts: number
  readonly backoffMs: number
  readonly backoffMaxMs: number
  readonly timeoutMs: number | null
  readonly priority: number
  readonly limit: Limit | null
  readonly keepMs: number | null
  readonly keepFailedMs: number | null
}

export interface PolicyOptions {
  readonly retry?: RetryOptions | undefined
  readonly timeout?: Duration | undefined
  readonly priority?: number | undefined
  // A key function takes the checked input of its own action; here it is only carried.
  readonly concurrency?: number | ConcurrencyOptions<never> | undefined
  readonly rate?: RateOptions<never> | undefined
  readonly retention?: RetentionOptions | undefined
}

const attempts = integer(1, LIMITS.runAttempts)
const priority = integer(-LIMITS.runPriority, LIMITS.runPriority)
const many = integer(1, 1_000_000)

/** Milliseconds from 1 to ten years. */
export function milliseconds(value: Duration, what: string): number {
  const ms = typeof value === 'number' ? value : durationMs(value, what)
  return integer(1, LIMITS.runDelayMs).read(ms, root(), what)
}

const optionalMs = (value: Duration | undefined, what: string): number | null =>
  value === undefined ? null : milliseconds(value, what)

function limitOf(options: PolicyOptions): Limit | null {
  const { concurrency, rate } = options
  if (concurrency === undefined && rate === undefined) return null
  if (typeof concurrency === 'object') onlyKnown(concurrency, ['limit', 'key'], 'concurrency')
  onlyKnown(rate ?? {}, ['limit', 'per', 'key'], 'rate')
  const of = typeof concurrency === 'number' ? { limit: concurrency, key: undefined } : concurrency
  if (of?.key !== undefined && rate?.key !== undefined && of.key !== rate.key) {
    refuse(root(), 'rate.key', 'the same function as concurrency.key: one key limits both')
  }
  const key = of?.key ?? rate?.key
  if (key !== undefined) demandFunction(key, `${of?.key === undefined ? 'rate' : 'concurrency'}.key`)
  const per = rate === undefined ? null : milliseconds(rate.per, 'rate.per')
  return {
    max: of === undefined ? null : many.read(of.limit, root(), 'concurrency.limit'),
    intervalMs:
      rate === undefined || per === null
        ? null
        : Math.max(1, Math.round(per / many.read(rate.limit, root(), 'rate.limit'))),
    // The input was checked by the action's own schema before this is called.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    keyOf: key === undefined ? null : (key as (input: unknown) => string),
  }
}

export function policyOf(options: PolicyOptions): Policy {
  onlyKnown(options.retry ?? {}, ['attempts', 'backoff', 'maxBackoff'], 'retry')
  onlyKnown(options.retention ?? {}, ['completed', 'failed'], 'retention')
  const backoffMs = optionalMs(options.retry?.backoff, 'retry.backoff') ?? 1_000
  const maxBackoffMs = optionalMs(options.retry?.maxBackoff, 'retry.maxBackoff')
  if (maxBackoffMs !== null && maxBackoffMs < backoffMs)
    refuse(root(), 'retry.maxBackoff', 'at least as long as retry.backoff')
  return {
    maxAttempts: attempts.read(options.retry?.attempts ?? 5, root(), 'retry.attempts'),
    backoffMs,
    backoffMaxMs: Math.max(backoffMs, maxBackoffMs ?? 3_600_000),
    timeoutMs: optionalMs(options.timeout, 'timeout'),
    priority: priority.read(options.priority ?? 0, root(), 'priority'),
    limit: limitOf(options),
    keepMs: optionalMs(options.retention?.completed, 'retention.completed'),
    keepFailedMs: optionalMs(options.retention?.failed, 'retention.failed'),
  }
}
