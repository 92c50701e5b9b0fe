// A message that starts runs: they are submitted in the commit of its ack, through a broker or straight to PostgreSQL. A run that
// is known with another input stands, and the message is done with; a commit that lost hands the message back.
import { LockstepError } from '../../protocol/errors.ts'
import type { Message } from '../message.ts'
import { transactionBuilder, type Transaction } from '../transaction-builder.ts'
import type { ConsumeContext } from './consume-context.ts'
import { isPassing } from './is-passing.ts'
import { handleWith, type HandleOne } from './work-each.ts'

/** What a message starts, said into the transaction of its ack; null: nothing, and it is done with. */
export type StartStep<Data> = (message: Message<Data>, transaction: Transaction) => Promise<Transaction | null>

export function handleStarts(context: ConsumeContext, step: StartStep<unknown>): HandleOne {
  const sender = { transaction: context.transport.transaction, attempts: context.attempts }

  async function start(message: Message<unknown>): Promise<void> {
    const acked = transactionBuilder(sender).ack(message)
    const starting = await step(message, acked)
    const result = await (starting ?? acked).commit()
    if (!result.success && result.reason === 'run_conflict') await acked.commit()
  }

  return handleWith(context, async (message) => {
    try {
      await start(message)
    } catch (error) {
      if (!isPassing(error)) throw error
      const told = error instanceof Error ? error.message : String(error)
      throw new LockstepError('rolled_back', told, { reason: Reflect.get(Object(error), 'code') }, error)
    }
  })
}
