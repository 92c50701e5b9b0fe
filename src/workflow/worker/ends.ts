// The ends of claimed nodes, joined with their like into few commits, each fenced by its own token. An end that cannot be
// written is tried again with the same token until the lease is over, then left to the lease law: no loop ends silently.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../db/pool.ts'
import { completeNodes } from '../../operations/complete-nodes.ts'
import { failNodes } from '../../operations/fail-nodes.ts'
import { handBackNodes } from '../../operations/hand-back-nodes.ts'
import { recordSteps } from '../../operations/record-steps.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { mintId } from '../../protocol/mint-id.ts'
import type {
  ClaimedNode,
  Completed,
  Failed,
  NodeCompletion,
  NodeFailure,
  NodeLease,
  StepRecord,
} from '../../protocol/run.ts'
import { createJoiner, type Joiner } from '../../traffic/join.ts'
import type { Registry } from './registry.ts'
import { takenNode } from './taken-node.ts'

export interface Ending extends NodeCompletion {
  readonly claimed: ClaimedNode
}

export interface Ends {
  complete(node: Ending, until: () => number): Promise<Completed>
  fail(node: NodeFailure, until: () => number): Promise<Failed>
  record(step: StepRecord & { readonly state: 'done' | 'returned' | 'failed' }, until: () => number): Promise<boolean>
  /** Uncounted; a fault is told and the lease lapses by itself. */
  handBack(nodes: readonly NodeLease[]): Promise<void>
  idle(): Promise<void>
}

const FIRST_PAUSE_MS = 50
const LAST_PAUSE_MS = 1_000

/** Nothing was committed, or a repeat under the same token finds what was. */
function mayRepeat(error: unknown): boolean {
  return error instanceof LockstepError && (error.retry === 'later' || error.code === 'outcome_unknown')
}

/** Throws the last fault when the lease is over. */
export async function untilLeaseEnds<T>(
  until: () => number,
  work: () => Promise<T>,
  onTrouble: (error: unknown) => void = () => {},
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * 2)) {
    try {
      const done = await work()
      onTrouble(null)
      return done
    } catch (error) {
      if (mayRepeat(error)) onTrouble(error)
      if (!mayRepeat(error) || performance.now() + pauseMs > until()) throw error
      await sleep(pauseMs)
    }
  }
}

export interface EndsPorts {
  readonly database: Database
  readonly leaseMs: number
  readonly registry: Registry
  /** Successors that one call's completions took, together. */
  readonly take: (nodes: readonly ClaimedNode[]) => void
  readonly onFault: (what: string, error: unknown) => void
  /** Told of a fault that is tried again, and of null when an end was written. */
  readonly onTrouble: (error: unknown) => void
}

export function createEnds({ database, leaseMs, registry, take, onFault, onTrouble }: EndsPorts): Ends {
  const bounds = { calls: 2, weight: 8 * 1024 * 1024, line: LIMITS.waitingCalls * 65_536 }
  const completing = async (nodes: readonly Ending[]): Promise<readonly Completed[]> => {
    const leaseId = mintId()
    const ended = await completeNodes(database, nodes, { leaseId, leaseMs })
    // Of the whole call at once: told to the heartbeat one by one they cost more than the rest of their way through this process.
    const taken: ClaimedNode[] = []
    for (const [index, { claimed, plans }] of nodes.entries()) {
      for (const ordinal of ended[index]?.taken ?? []) {
        const node = takenNode(registry, claimed, plans, ordinal, leaseId)
        if (node !== null) taken.push(node)
      }
    }
    if (taken.length > 0) take(taken)
    return ended
  }
  // Jobs end in one set; nodes of a run take its locks one by one. Apart, neither waits for the other.
  const jobs = createJoiner({
    ...bounds,
    size: 500,
    wholeCalls: 4,
    most: 4,
    weightOf: (node: Ending) => node.output.length + 128,
    run: completing,
  })
  const nodes = createJoiner({
    ...bounds,
    size: 250,
    wholeCalls: 4,
    most: 4,
    weightOf: (node: Ending) => node.output.length + 256,
    run: completing,
  })
  const failures = createJoiner({
    ...bounds,
    size: 100,
    weightOf: (node: NodeFailure) => node.error.length + 128,
    run: async (batch: readonly NodeFailure[]) => failNodes(database, batch),
  })
  const records: Joiner<StepRecord & { readonly state: 'done' | 'returned' | 'failed' }, boolean> = createJoiner({
    ...bounds,
    size: 200,
    weightOf: (step: StepRecord) => step.output.length + 128,
    run: async (batch: readonly (StepRecord & { readonly state: 'done' | 'returned' | 'failed' })[]) =>
      recordSteps(database, batch),
  })

  return {
    complete: (node, until) => untilLeaseEnds(until, () => (node.ordinal === 0 ? jobs : nodes).join(node), onTrouble),
    fail: (node, until) => untilLeaseEnds(until, () => failures.join(node), onTrouble),
    record: (step, until) => untilLeaseEnds(until, () => records.join(step), onTrouble),
    async handBack(given) {
      try {
        await handBackNodes(database, given)
      } catch (error) {
        onFault('claims could not be handed back and will lapse', error)
      }
    },
    async idle() {
      await Promise.all([jobs.idle(), nodes.idle(), failures.idle(), records.idle()])
    },
  }
}
