// The settings of a worker, with their defaults, checked at its start.
import { integer, list, refuse, root, text } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { onlyKnown } from '../../protocol/only-known.ts'
import { milliseconds } from '../define/policy.ts'
import type { WorkerOptions } from '../define/worker.ts'

export interface WorkerSettings {
  readonly concurrency: number
  readonly queues: ReadonlySet<string>
  readonly leaseMs: number
  readonly pollMs: number
  readonly drainMs: number
  readonly maxStallMs: number
}

const concurrencyField = integer(1, 10_000)
const queuesField = list(1_000, text({ min: 1, max: LIMITS.nameBytes }))

const OPTIONS = [
  'actions',
  'workflows',
  'concurrency',
  'queues',
  'lease',
  'poll',
  'drain',
  'maxStall',
  'exitOnSignal',
  'hooks',
]

export function workerSettings(options: WorkerOptions): WorkerSettings {
  onlyKnown(options, OPTIONS, 'a worker')
  if ((options.actions ?? []).length + (options.workflows ?? []).length === 0) {
    throw new LockstepError('bad_request', 'a worker needs actions or workflows')
  }
  const queues = queuesField.read(options.queues ?? ['default'], root(), 'queues')
  if (queues.length === 0) refuse(root(), 'queues', 'at least one queue')
  return {
    concurrency: concurrencyField.read(options.concurrency ?? 10, root(), 'concurrency'),
    queues: new Set(queues),
    leaseMs: milliseconds(options.lease ?? 30_000, 'lease'),
    pollMs: milliseconds(options.poll ?? 250, 'poll'),
    drainMs: milliseconds(options.drain ?? 30_000, 'drain'),
    maxStallMs: milliseconds(options.maxStall ?? 60_000, 'maxStall'),
  }
}
