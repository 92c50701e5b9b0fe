// Runs a user's handler and says how it ended. A handler that outlives the patience of a closing client is left to itself.
import { errorLine } from '../logger.ts'
import type { ConsumeContext } from './consume-context.ts'
import type { Ended } from './settle.ts'

export async function runHandler(context: ConsumeContext, work: () => unknown): Promise<Ended> {
  const { abandoned, log, plan } = context
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
        await work()
        end({ how: 'returned' })
      } catch (error) {
        const details = { queue: plan.definition.name, group: plan.group, error: errorLine(error) }
        log.warn(details, left ? 'a handler failed after its consumer had ended' : 'a handler failed')
        end({ how: 'threw', error })
      }
    }
    void run()
  })
}
