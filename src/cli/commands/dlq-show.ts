// `lockstep dlq show`: one dead letter with its payload and why it was given up.

import { showDeadLetter } from '../../operations/show-dead-letter.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { letterId } from '../letter-id.ts'
import { showTable } from '../show-table.ts'
import { rawJson } from '../write-json.ts'

export const dlqShow: Command = {
  name: 'dlq show',
  summary: 'Show one dead letter with its payload.',
  arguments: [{ name: 'id', meaning: 'The id of the dead letter, as `lockstep dlq list` tells it.' }],
  options: DATABASE_OPTIONS,
  examples: ['lockstep dlq show 01a227d9-6709-7029-9680-345d117a9c71'],
  async run(call) {
    const id = letterId(call.argument('id'))
    return await withDatabase(call, async (database) => {
      const letter = await showDeadLetter(database.reader, id)
      if (letter === null) {
        throw new LockstepError('not_found', `${id}: there is no such dead letter (any more)`, {
          hint: 'lockstep dlq list',
        })
      }
      const { payload, ...fields } = letter
      call.output.result({ ...fields, payload: payload === null ? null : rawJson(payload) }, () => {
        const rows = Object.entries(fields).map(([name, value]) => [name, value === null ? '' : String(value)])
        return `${showTable(['field', 'value'], rows, '')}\n\n${payload ?? 'The payload is sealed with a key that is not here.'}`
      })
      return 0
    })
  },
}
