// A transactional consumer's message: the handler's writes, pushes and state and the ack of the message in one commit. The
// commit is fenced by the lease; anything that undoes it leaves the message to be read again, and nothing of the step.
import { LockstepError } from '../../protocol/errors.ts'
import type { Delivery } from '../../protocol/message.ts'
import type { Attempt } from '../attempts.ts'
import { errorLine } from '../logger.ts'
import type { Message } from '../message.ts'
import type { Step } from '../queue-builder.ts'
import { transactionScope } from '../transaction-scope.ts'
import type { JoinedTransaction, StepAnswer } from '../transport.ts'
import { saysLeaseLost } from '../ack-input.ts'
import type { ConsumeContext } from './consume-context.ts'
import { isPassing } from './is-passing.ts'
import { ackOf, type LaneBatch } from './lane-batch.ts'
import { placeOf } from './place-of.ts'
import { runHandler } from './run-handler.ts'
import { settle, type Ended } from './settle.ts'
import { settledAck } from './settled-ack.ts'
import { validMessage } from './valid-message.ts'
import { sendAck, type HandleOne, type Handled } from './work-each.ts'

/** Remembers whether a required state operation lost: then the step is not committed, whatever the handler made of it. */
function watchingRequired(joined: JoinedTransaction): { readonly joined: JoinedTransaction; lost(): boolean } {
  let lost = false
  return {
    joined: {
      push: async (items) => joined.push(items),
      async kv(operations) {
        const answer = await joined.kv(operations)
        if (!answer.ok) lost = true
        return answer
      },
      timers: async (operations) => joined.timers(operations),
      submit: async (runs) => joined.submit(runs),
    },
    lost: () => lost,
  }
}

interface Seen {
  started: boolean
  ended: Ended
}

const UNTOUCHED: Attempt = { settled: false, done: false, released: false, lost: null, leaseLost: false }

/** The step was rolled back: a failure of the message, or a hand-back that spends nothing. */
async function undone(
  context: ConsumeContext,
  delivery: Delivery,
  lane: LaneBatch,
  seen: Seen,
  error: unknown,
): Promise<Handled> {
  const handBack = ackOf(delivery, 'retry')
  if (!seen.started) {
    await sendAck(context, delivery, handBack)
    throw error
  }
  if (seen.ended.how === 'abandoned') lane.lost.abort()
  if (isPassing(error)) {
    const details = { ...placeOf(delivery), error: errorLine(error) }
    context.log.warn(details, 'a step was undone and will be tried again')
    return sendAck(context, delivery, handBack)
  }
  if (seen.ended.how === 'returned') {
    context.log.warn({ ...placeOf(delivery), error: errorLine(error) }, 'a step failed after its handler had returned')
  }
  const ended: Ended = seen.ended.how === 'abandoned' ? seen.ended : { how: 'threw', error }
  const settlement = settle(ended, UNTOUCHED, false)
  return settlement.ack === null ? settlement : sendAck(context, delivery, settledAck(context, delivery, settlement))
}

export function handleSteps(
  context: ConsumeContext,
  handler: (message: Message<unknown>, step: Step) => unknown,
): HandleOne {
  return async (delivery, lane) => {
    const validated = await validMessage(context, delivery, lane.lost.signal)
    if (!validated.valid) return sendAck(context, delivery, await validated.end())

    const seen: Seen = { started: false, ended: { how: 'returned' } }
    const body = async (tx: Step['tx'], joined: JoinedTransaction): Promise<void> => {
      seen.started = true
      const watched = watchingRequired(joined)
      const scope = transactionScope(async () => watched.joined, context.transport.runs)
      seen.ended = await runHandler(context, [delivery], () => handler(validated.message, { ...scope, tx }))
      if (seen.ended.how === 'threw') throw seen.ended.error
      if (seen.ended.how === 'abandoned') throw new LockstepError('closed', 'the client was closed meanwhile')
      if (watched.lost()) throw new LockstepError('rolled_back', 'a required state operation lost')
    }

    const held = { ...delivery, group: delivery.consumerGroup }
    let answer: StepAnswer
    context.attempts.beginStep(held)
    try {
      answer = await context.transport.step(ackOf(delivery, 'completed'), body)
    } catch (error) {
      return undone(context, delivery, lane, seen, error)
    } finally {
      context.attempts.end(held)
    }
    if (answer.success) {
      const acked = answer.operations.find((result) => result.type === 'ack')
      return { finished: true, held: acked?.type === 'ack' && !acked.leaseReleased }
    }
    context.log.warn({ ...placeOf(delivery), reason: answer.error }, 'a step was not committed')
    if (answer.reason === 'rejected_ack' && saysLeaseLost(answer.error)) {
      lane.lost.abort()
      return { finished: false, held: false }
    }
    return sendAck(context, delivery, settledAck(context, delivery, { ack: 'retry', error: null, lost: answer }))
  }
}
