// Stands for the PostgreSQL transport where there can be none: in a browser. Everything is refused, readably.
import { LockstepError } from '../protocol/errors.ts'
import type { PostgresDoor } from './postgres-door.ts'

async function refuse(): Promise<never> {
  throw new LockstepError(
    'not_available',
    'a browser cannot reach PostgreSQL: make the client with { url } and go through a broker',
  )
}

export const openPostgres: PostgresDoor['openPostgres'] = refuse
export const joinTransaction: PostgresDoor['joinTransaction'] = refuse
