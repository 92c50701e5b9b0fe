// `lockstep queue delete`: removes a queue with its messages, groups and dead letters. Asks first; a script says --yes.

import { deleteQueue } from '../../operations/delete-queue.ts'
import { showQueue } from '../../operations/show-queue.ts'
import { shellWord } from '../as-run.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { demandYes } from '../demand-yes.ts'
import { noSuchQueue } from '../no-such-queue.ts'

export const queueDelete: Command = {
  name: 'queue delete',
  summary: 'Delete a queue with all it holds.',
  detail: 'Its name is free at once, and its leases are dead. There is no way back.',
  arguments: [{ name: 'queue', meaning: 'The queue.' }],
  options: {
    yes: { kind: 'flag', meaning: 'Do not ask.' },
    ...DATABASE_OPTIONS,
  },
  examples: ['lockstep queue delete orders --yes'],
  async run(call) {
    const name = call.argument('queue')
    return await withDatabase(call, async (database) => {
      const detail = await showQueue(database.reader, name, { limit: 1 })
      if (detail === null) throw await noSuchQueue(database, name)
      const { total, deadLetter } = detail.messages
      await demandYes(
        call,
        `Delete ${name} with ${total} messages and ${deadLetter} dead letters?`,
        `lockstep queue delete ${shellWord(name)} --yes`,
      )
      const { existed } = await deleteQueue(database, name)
      call.output.result({ queue: name, deleted: existed, messages: total, deadLetters: deadLetter }, () =>
        existed ? `${name} is deleted.` : `${name} was deleted by somebody else meanwhile.`,
      )
      return existed ? 0 : 1
    })
  },
}
