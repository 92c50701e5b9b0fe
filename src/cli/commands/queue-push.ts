// `lockstep queue push`: sends one message, or with --lines one per line of the standard input, with the checks of the wire.

import { push } from '../../operations/push.ts'
import { LIMITS } from '../../protocol/limits.ts'
import type { PushResult } from '../../protocol/message.ts'
import { decodePush } from '../../protocol/push-request.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { argumentOrInput, readJson } from '../read-json.ts'
import { showTable } from '../show-table.ts'
import { UsageError } from '../usage-error.ts'
import { rawJson, writeJson } from '../write-json.ts'

export const queuePush: Command = {
  name: 'queue push',
  summary: 'Push messages.',
  detail: 'A message whose --id the partition remembers is answered as a duplicate and not stored again.',
  arguments: [
    { name: 'queue', meaning: 'The queue; it is made when it is not there.' },
    { name: 'payload', meaning: 'JSON; `-` or nothing reads the standard input.', optional: true },
  ],
  options: {
    partition: {
      kind: 'text',
      value: 'NAME',
      meaning: 'The partition, within which order is kept.',
      fallback: 'Default',
    },
    id: { kind: 'text', value: 'ID', meaning: 'The transaction id, by which a repeated push is known.' },
    lines: { kind: 'flag', meaning: 'Each line of the standard input is one message.' },
    ...DATABASE_OPTIONS,
  },
  examples: [
    `lockstep queue push orders '{"orderId":"o-1"}' --partition acme --id o-1`,
    'lockstep queue push orders --lines < orders.jsonl',
  ],
  async run(call) {
    const [queue, lines] = [call.argument('queue'), call.flag('lines')]
    const [partition, transactionId] = [call.text('partition'), call.text('id')]
    if (lines && transactionId !== null) throw new UsageError('--id names one message; --lines sends many.')
    if (queue === '') throw new UsageError('A queue needs a name that is not empty.', "lockstep queue push orders '{}'")
    const input = await argumentOrInput(call.argument('payload'), 'payload')
    const payloads = lines
      ? input.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [readJson(line, `line ${index + 1}`)]))
      : [readJson(input, 'payload')]
    if (payloads.length === 0) throw new UsageError('There is nothing to push: the standard input has no line.')
    return await withDatabase(call, async (database) => {
      const answers: PushResult[] = []
      for (let from = 0; from < payloads.length; from += LIMITS.pushItems) {
        const batch = payloads.slice(from, from + LIMITS.pushItems)
        const items = batch.map((payload) => ({ queue, partition, transactionId, payload: rawJson(payload) }))
        const request = decodePush({ text: writeJson({ items }), broken: null }, null)
        const refused = request.refused.values().next().value
        if (refused !== undefined) throw new UsageError(refused.error)
        answers.push(...(await push(database, request.items)))
        if (payloads.length > LIMITS.pushItems) call.output.progress(`pushed ${answers.length} of ${payloads.length}`)
      }
      const refused = answers.filter((answer) => answer.status === 'error')
      call.output.result({ queue, messages: answers }, () =>
        answers.length > 20
          ? `${answers.length - refused.length} of ${answers.length} messages are in ${queue}.`
          : showTable(
              ['status', 'offset', 'transaction id', 'message id'],
              answers.map((answer) => [
                answer.error ?? (answer.conflict ? 'duplicate, other payload' : answer.status),
                answer.offset,
                answer.transactionId,
                answer.messageId,
              ]),
              'Nothing was pushed.',
            ),
      )
      return refused.length === 0 ? 0 : 1
    })
  },
}
