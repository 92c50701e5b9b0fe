// The schema: there, of this package's version, and with the functions of this package or of a newer one.

import { migrationStatus, readState } from '../../db/migrate/schema-state.ts'
import type { Check } from '../examine.ts'
import { fail, fine } from './finding.ts'

export const examineSchema: Check = async (database) => {
  const { present } = await readState(database.reader)
  if (!present) return [fail('schema', 'there is no schema lockstep', 'lockstep migrate')]
  const { applied, pending, functions } = await migrationStatus(database)
  if (pending.length > 0) return [fail('schema', `not applied yet: ${pending.join(', ')}`, 'lockstep migrate')]
  if (functions === 'outdated' || functions === 'missing') {
    return [fail('schema', `the functions are ${functions}`, 'lockstep migrate')]
  }
  const newer = functions === 'newer' ? '; the functions are of a newer package, which serve this one too' : ''
  return [fine('schema', `${applied.length} migrations applied${newer}`)]
}
