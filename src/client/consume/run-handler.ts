// Runs a user's handler and says how it ended. A handler that outlives the patience of a closing client is left to itself.
import type { Delivery } from '../../protocol/message.ts'
import { errorLine } from '../logger.ts'
import type { ConsumeContext } from './consume-context.ts'
import { placeOf } from './place-of.ts'
import type { Ended } from './settle.ts'

/** What a handler of our own returns to give its messages back, uncounted. */
export const HAND_BACK: unique symbol = Symbol('hand back')

/** `deliveries`: what the handler got. */
export async function runHandler(
  context: ConsumeContext,
  deliveries: readonly Delivery[],
  work: () => unknown,
): Promise<Ended> {
  const { abandoned, log } = context
  const [head] = deliveries
  const first = head === undefined ? {} : placeOf(head)
  let left = false
  if (abandoned.thrown) return { how: 'abandoned' }
  return new Promise((resolve) => {
    const leave = (): void => {
      left = true
      resolve({ how: 'abandoned' })
    }
    const forget = abandoned.onThrown(leave)
    const end = (ended: Ended): void => {
      forget()
      resolve(ended)
    }
    const run = async (): Promise<void> => {
      try {
        const answer = await work()
        end({ how: answer === HAND_BACK ? 'abandoned' : 'returned' })
      } catch (error) {
        const stack = error instanceof Error ? error.stack : undefined
        const details = { ...first, messages: deliveries.length, error: errorLine(error), stack }
        log.warn(details, left ? 'a handler failed after its consumer had ended' : 'a handler failed')
        end({ how: 'threw', error })
      }
    }
    void run()
  })
}
