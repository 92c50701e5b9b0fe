// `lockstep timer cancel`: takes a pending timer back, so that its message is never pushed.

import { timers } from '../../operations/timers.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { TIMER_ARGUMENTS } from '../timer-arguments.ts'

export const timerCancel: Command = {
  name: 'timer cancel',
  summary: 'Cancel a pending timer.',
  detail: 'Ends with status 1 when there is none: it was cancelled, has fired, or never was.',
  arguments: TIMER_ARGUMENTS,
  options: DATABASE_OPTIONS,
  examples: ['lockstep timer cancel reminders order-2001'],
  async run(call) {
    const [queue, key] = [call.argument('queue'), call.argument('key')]
    return await withDatabase(call, async (database) => {
      const [[result] = []] = await timers(database, [[{ op: 'cancel', queue, key, transactionId: null }]])
      const cancelled = result?.status === 'cancelled'
      call.output.result({ cancelled, queue, key, transactionId: result?.transactionId ?? null }, () =>
        cancelled ? `The timer ${key} of ${queue} is cancelled.` : `No timer ${key} of ${queue} is pending.`,
      )
      return cancelled ? 0 : 1
    })
  },
}
