// `lockstep timer show`: one pending timer and the message that it will push, printed exactly as it is stored.

import { getTimer } from '../../operations/get-timer.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { TIMER_ARGUMENTS } from '../timer-arguments.ts'
import { rawJson } from '../write-json.ts'

export const timerShow: Command = {
  name: 'timer show',
  summary: 'Print a pending timer and its message.',
  detail: 'Ends with status 1 when there is none: it was cancelled, has fired, or never was.',
  arguments: TIMER_ARGUMENTS,
  options: DATABASE_OPTIONS,
  examples: ['lockstep timer show reminders order-2001', 'lockstep timer show reminders order-2001 --json'],
  async run(call) {
    const [queue, key] = [call.argument('queue'), call.argument('key')]
    return await withDatabase(call, async (database) => {
      const timer = await getTimer(database.reader, queue, key)
      if (timer === null) {
        call.output.result({ found: false, queue, key }, () => `No timer ${key} of ${queue} is pending.`)
        return 1
      }
      const { payload, ...shown } = timer
      const { deliverAt, partition, transactionId, attempts, lastError } = timer
      const tried = attempts === 0 ? '' : `, tried ${attempts} times (${lastError ?? ''})`
      call.output.result({ found: true, queue, ...shown, data: payload === null ? null : rawJson(payload) }, () => {
        const place = `fires at ${deliverAt} into partition ${partition} as ${transactionId}${tried}`
        return `${payload ?? '(sealed with a key that is not here)'}\n${call.output.styled('dim', place)}`
      })
      return 0
    })
  },
}
