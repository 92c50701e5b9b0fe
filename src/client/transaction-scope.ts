// What may be said inside a transaction that is open already: pushes that become messages when it commits, versioned
// state, timers, and the guards of locks. The same object from `lockstep.in(tx)` and as `step` of a transactional consumer. It never ends the transaction.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { guardInside } from './guard-inside.ts'
import { kvClient, type Kv } from './kv-client.ts'
import type { Guardian } from './locks/held-lock.ts'
import { partitionName } from '../protocol/names.ts'
import { root } from '../protocol/check.ts'
import { pushOutcome, stagedItems, type PushInput, type PushOutcome } from './push-input.ts'
import { definitionOf, type QueueDefinition } from './queue-definition.ts'
import { timerWrites, type TimerWrites } from './timers/timers-client.ts'
import type { JoinedTransaction } from './transport.ts'
import type { Starter } from '../workflow/define/submitter.ts'
import type { RunCalls } from '../workflow/run/run-calls.ts'
import { starter } from '../workflow/run/start-runs.ts'
import type { Untyped } from './untyped.ts'

export interface StagedQueue<In> {
  partition(name: string): StagedQueue<In>
  /** The answers have no offset: it is given after the commit. */
  push(items: PushInput<In> | readonly PushInput<In>[]): Promise<readonly PushOutcome[]>
}

export interface TransactionScope extends Starter {
  queue(name: string): StagedQueue<Untyped>
  queue<In, Out>(definition: QueueDefinition<string, In, Out>): StagedQueue<In>
  queue<S extends StandardSchemaV1>(name: string, schema: S): StagedQueue<StandardSchemaV1.InferInput<S>>
  readonly kv: Kv
  /** Scheduled, or cancelled, when the transaction commits. */
  readonly timers: TimerWrites
  /** Lets nobody take the lock before the transaction ends. Throws `lock_lost` when it is not held: roll back then. */
  guard(lock: Guardian): Promise<void>
}

export function transactionScope(joined: () => Promise<JoinedTransaction>, calls: RunCalls): TransactionScope {
  function staged(
    definition: QueueDefinition<string, unknown, unknown>,
    partition: string | null,
  ): StagedQueue<Untyped> {
    return {
      partition: (name) => staged(definition, partitionName.read(name, root(), 'partition')),
      async push(inputs) {
        const items = await stagedItems(inputs, definition.name, partition, definition.schema)
        return (await (await joined()).push(items)).map(pushOutcome)
      },
    }
  }
  return {
    queue: (given: string | QueueDefinition<string, Untyped, Untyped>, schema?: StandardSchemaV1) =>
      staged(definitionOf(given, schema), null),
    kv: kvClient(async (operations) => (await joined()).kv(operations)),
    timers: timerWrites(async (operations) => (await joined()).timers(operations)),
    guard: async (lock) => guardInside(await joined(), lock),
    ...starter(calls, async (runs) => (await joined()).submit(runs)),
  }
}
