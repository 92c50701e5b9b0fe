// What may be said through an open transaction's door: pushes are staged there and become messages when it commits.
import type { Door } from '../../db/executor.ts'
import { kvIn } from '../../operations/kv-in.ts'
import { submitIn } from '../../operations/submit-in.ts'
import { stage } from '../../operations/stage.ts'
import { timersIn } from '../../operations/timers-in.ts'
import type { PushItem } from '../../protocol/message.ts'
import { mintId } from '../../protocol/mint-id.ts'
import type { JoinedTransaction, StagedItem } from '../transport.ts'

/** An item as the engine takes it; the message id is minted here. */
export function pushItem(item: StagedItem): PushItem {
  return { ...item, producerSub: null, messageId: mintId() }
}

export function joinedTransaction(door: Door): JoinedTransaction {
  return {
    push: async (items) => stage(door, items.map(pushItem)),
    kv: async (operations) => kvIn(door, operations),
    timers: async (operations) => timersIn(door, operations),
    submit: async (runs) => submitIn(door, runs),
  }
}
