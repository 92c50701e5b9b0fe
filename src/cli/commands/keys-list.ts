// `lockstep keys list`: which encryption keys this database knows by name, and which of them are in the ring of this environment.

import { listKeys } from '../../operations/list-keys.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { showTable } from '../show-table.ts'

export const keysList: Command = {
  name: 'keys list',
  summary: 'List the encryption keys that this database has seen, and which are here.',
  detail:
    'Reads the ring from LOCKSTEP_ENCRYPTION_KEYS or the file in LOCKSTEP_ENCRYPTION_KEYS_FILE. Prints names, never keys.',
  arguments: [],
  options: DATABASE_OPTIONS,
  examples: ['lockstep keys list'],
  async run(call) {
    return await withDatabase(call, async (database) => {
      const ring = database.vault?.keys ?? []
      const seen = await listKeys(database.reader)
      const fresh = ring.filter((id) => !seen.some((key) => key.id === id))
      const keys = [
        ...seen.map(({ id, firstSeenAt }) => ({ id, firstSeenAt, here: ring.includes(id), current: ring[0] === id })),
        ...fresh.map((id) => ({ id, firstSeenAt: null, here: true, current: ring[0] === id })),
      ]
      call.output.result({ keys }, () =>
        showTable(
          ['key', 'first seen', 'here'],
          keys.map((key) => [key.id, key.firstSeenAt ?? 'never', key.current ? 'current' : key.here ? 'yes' : 'no']),
          'No process has used a key on this database, and none is here.',
        ),
      )
      return 0
    })
  },
}
