// What a handler asks through `ctx` before it opens the completion's transaction: pushes, state and submissions are checked at
// once, kept in order, and sent with the completion; after the opening they are sent at once. A lost `required` write, a
// refused push or a key that is known with another input undoes the step.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { kvClient } from '../../client/kv-client.ts'
import {
  checkOperation,
  deleteOperation,
  incrOperation,
  putIfAbsentOperation,
  putOperation,
} from '../../client/kv-input.ts'
import { outgoingItems } from '../../client/push-input.ts'
import { definitionOf, type QueueDefinition } from '../../client/queue-definition.ts'
import { guardInside } from '../../client/guard-inside.ts'
import type { Guardian } from '../../client/locks/held-lock.ts'
import { cancelOperation, scheduleOperation } from '../../client/timers/timer-input.ts'
import type { JoinedTransaction } from '../../client/transport.ts'
import type { Untyped } from '../../client/untyped.ts'
import { root } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import type { KvAnswer, KvOperation } from '../../protocol/kv.ts'
import { partitionName } from '../../protocol/names.ts'
import type { OutgoingRun, Submitted } from '../../protocol/run.ts'
import type { TimerOperation } from '../../protocol/timer.ts'
import type { StepKv, StepQueue, StepTimers } from '../define/contexts.ts'
import type { Starter } from '../define/submitter.ts'
import type { RunCalls } from '../run/run-calls.ts'
import { starter } from '../run/start-runs.ts'

type Write = (joined: JoinedTransaction) => Promise<void>

export interface StepWrites extends Starter {
  queue(given: string | QueueDefinition<string, Untyped, Untyped>, schema?: StandardSchemaV1): StepQueue<Untyped>
  readonly kv: StepKv
  readonly timers: StepTimers
  guard(lock: Guardian): Promise<void>
  /** True when something waits to be sent. */
  readonly pending: boolean
  /** From now on writes go through this at once; sends what was kept. */
  openOn(joined: JoinedTransaction): Promise<void>
  /** Queues and workflows that got something, for the bell after the commit. */
  readonly queues: ReadonlySet<string>
  readonly workflows: ReadonlySet<string>
}

export interface WritePorts {
  readonly readKv: (operations: readonly KvOperation[]) => Promise<KvAnswer>
  readonly calls: RunCalls
}

async function writeKv(joined: JoinedTransaction, operation: KvOperation): Promise<void> {
  const answer = await joined.kv([operation])
  if (!answer.ok) throw new LockstepError('rolled_back', `a required state operation lost: ${answer.kvReason}`)
}

export function createStepWrites(ports: WritePorts): StepWrites {
  const kept: Write[] = []
  const queues = new Set<string>()
  const workflows = new Set<string>()
  let open: JoinedTransaction | null = null

  async function send(write: Write): Promise<void> {
    if (open === null) kept.push(write)
    else await write(open)
  }

  async function submit(runs: readonly OutgoingRun[]): Promise<Submitted> {
    for (const run of runs) workflows.add(run.workflow)
    if (open !== null) return open.submit(runs)
    kept.push(async (joined) => {
      const { runs: submitted } = await joined.submit(runs)
      for (const [at, run] of runs.entries()) {
        const one = submitted[at]
        if (one?.differs === true) {
          throw new LockstepError(
            'run_conflict',
            `the key '${run.key ?? ''}' of '${run.workflow}' is known with another input`,
          )
        }
      }
    })
    return { runs: runs.map((run) => ({ runId: run.runId, created: true, differs: false })), xid: null }
  }

  function queueOf(
    definition: QueueDefinition<string, unknown, unknown>,
    partition: string | null,
  ): StepQueue<Untyped> {
    return {
      partition: (name) => queueOf(definition, partitionName.read(name, root(), 'partition')),
      async push(inputs) {
        const items = await outgoingItems(inputs, definition.name, partition, definition.schema)
        queues.add(definition.name)
        await send(async (joined) => {
          const refused = (await joined.push(items)).find((result) => result.status === 'error' || result.conflict)
          if (refused !== undefined) {
            throw new LockstepError(
              'rolled_back',
              `a push to '${definition.name}' was refused: ${refused.error ?? 'conflict'}`,
            )
          }
        })
      },
    }
  }

  const write = async (operation: KvOperation): Promise<void> => send(async (joined) => writeKv(joined, operation))
  const time = async (operation: TimerOperation): Promise<void> =>
    send(async (joined) => void (await joined.timers([operation])))
  const reads = kvClient(async (operations) => (open === null ? ports.readKv(operations) : open.kv(operations)))

  return {
    queue: (given, schema) => queueOf(definitionOf(given, schema), null),
    kv: {
      get: async (ns, key) => reads.get(ns, key),
      put: async (ns, key, value, options) => write(putOperation(ns, key, value, options)),
      putIfAbsent: async (ns, key, value, options) => write(putIfAbsentOperation(ns, key, value, options)),
      delete: async (ns, key, options) => write(deleteOperation(ns, key, options)),
      incr: async (ns, key, delta, options) => write(incrOperation(ns, key, delta, options)),
      check: async (ns, key, options) => write(checkOperation(ns, key, options)),
    },
    timers: {
      schedule: async (queue, key, data, options) => time(await scheduleOperation(queue, key, data, options)),
      cancel: async (queue, key) => time(cancelOperation(queue, key)),
    },
    guard: async (lock) => send(async (joined) => guardInside(joined, lock)),
    ...starter(ports.calls, submit),
    get pending() {
      return kept.length > 0
    },
    async openOn(joined) {
      // In order: what comes meanwhile waits behind what was kept.
      for (let next = kept.shift(); next !== undefined; next = kept.shift()) await next(joined)
      open = joined
    },
    queues,
    workflows,
  }
}
