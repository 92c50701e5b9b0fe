// From a result to what is pushed: through the operators behind the aggregate, then into the sink. Gathers the pushes of one cycle.
import { root } from '../../protocol/check.ts'
import { LIMITS } from '../../protocol/limits.ts'
import type { PushItem } from '../../protocol/message.ts'
import { mintId } from '../../protocol/mint-id.ts'
import { partitionName } from '../../protocol/names.ts'
import { payloadOf } from '../push-input.ts'
import type { Operator, ResultAt, StreamPlan } from './stream-plan.ts'

export interface Outgoing {
  /** Adds what the plan makes of one result. */
  add(value: unknown, at: ResultAt): Promise<void>
  readonly items: readonly PushItem[]
  /** Enough for one cycle: the rest goes into the next. */
  readonly full: boolean
}

const ITEMS_PER_CYCLE = 2_000
const CHARACTERS_PER_CYCLE = 4 * 1024 * 1024

/** Every value through every operator, in order. */
export async function through<At>(
  operators: readonly Operator<At>[],
  value: unknown,
  at: At,
): Promise<readonly unknown[]> {
  let values: readonly unknown[] = [value]
  for (const operator of operators) {
    const next: unknown[] = []
    for (const each of values) next.push(...(await operator(each, at)))
    values = next
  }
  return values
}

export function outgoing({ after, sink }: Pick<StreamPlan, 'after' | 'sink'>): Outgoing {
  const items: PushItem[] = []
  let characters = 0
  return {
    async add(value, at) {
      if (sink === null) return
      const { name, schema } = sink.definition
      for (const each of await through(after, value, at)) {
        if (items.length >= LIMITS.transactionOperations) {
          throw new RangeError(`one message gives more than ${LIMITS.transactionOperations} results`)
        }
        const payload = await payloadOf(each, name, schema, 'result')
        const partition = sink.partition === null ? at.partition : sink.partition(each, at)
        characters += payload.length
        items.push({
          queue: name,
          partition: partitionName.read(partition, root(), 'partition'),
          transactionId: null,
          payload,
          traceId: null,
          producerSub: null,
          messageId: mintId(),
        })
      }
    },
    items,
    get full() {
      return items.length >= ITEMS_PER_CYCLE || characters >= CHARACTERS_PER_CYCLE
    },
  }
}
