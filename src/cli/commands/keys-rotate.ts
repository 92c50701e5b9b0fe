// `lockstep keys rotate`: seals everything that is sealed with an older key, or is plain in an encrypted queue, with the current
// key, in bounded steps beside the traffic. Interrupted, it has done some, and the same call does the rest.

import { showKeys } from '../../db/vault/seal-items.ts'
import { reseal, SEALED_TABLES } from '../../operations/reseal.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'

export const keysRotate: Command = {
  name: 'keys rotate',
  summary: 'Seal stored payloads with the current encryption key.',
  detail:
    'The first key of LOCKSTEP_ENCRYPTION_KEYS is the current one; the older ones must be there too, to open what they sealed. Ends with status 1 when some payloads did not open; they are left as they are.',
  arguments: [],
  options: DATABASE_OPTIONS,
  examples: ['lockstep keys rotate'],
  async run(call) {
    return await withDatabase(call, async (database) => {
      await showKeys(database)
      const done: Record<string, number> = {}
      const unopened = new Map<string, string>()
      for (const table of SEALED_TABLES) {
        done[table] = 0
        let after: string | null = null
        do {
          const step = await reseal(database, table, after)
          done[table] += step.resealed
          for (const [id, why] of step.unopened) unopened.set(id, why)
          after = step.next
        } while (after !== null && !call.signal.aborted)
        call.output.progress(`${table}: ${done[table]} sealed anew`)
      }
      const [why] = unopened.values()
      call.output.result({ key: database.vault?.keys[0] ?? null, resealed: done, unopened: unopened.size }, () =>
        [
          `Sealed with ${database.vault?.keys[0] ?? ''}: ${Object.entries(done)
            .map(([table, count]) => `${count} of ${table}`)
            .join(', ')}.`,
          ...(why === undefined ? [] : [`${unopened.size} payloads were left as they are; the first: ${why}`]),
        ].join('\n'),
      )
      return unopened.size === 0 && !call.signal.aborted ? 0 : 1
    })
  },
}
