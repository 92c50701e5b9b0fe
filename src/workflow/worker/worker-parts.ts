// What the pieces of one worker share, made once at its start. Types only.
import type { Logger } from '../../client/logger.ts'
import type { Database } from '../../db/pool.ts'
import type { ClaimedNode } from '../../protocol/run.ts'
import type { RunTraffic } from '../../traffic/run-traffic.ts'
import type { AttemptPorts } from '../context/attempt.ts'
import type { WorkerHooks } from '../define/worker.ts'
import type { Ends } from './ends.ts'
import type { HeldNodes } from './held-nodes.ts'
import type { Registry } from './registry.ts'
import type { WorkerSettings } from './worker-options.ts'

export interface WorkerParts {
  readonly database: Database
  readonly settings: WorkerSettings
  readonly registry: Registry
  readonly ends: Ends
  readonly held: HeldNodes
  readonly runs: RunTraffic
  readonly attempts: AttemptPorts
  readonly hooks: WorkerHooks
  readonly log: Logger
  /** A queue got messages by a step's commit. */
  readonly committed: (queue: string) => void
  /** A node has ended; `ended`: its run too; `more`: other work of it may be due now. */
  readonly settled: (node: ClaimedNode, ended: boolean, more: boolean) => void
  /** A node will come again after its pause. */
  readonly again: (node: ClaimedNode) => void
  /** Successors that a completion took for this worker. */
  readonly take: (nodes: readonly ClaimedNode[]) => void
  readonly stopping: () => boolean
}
