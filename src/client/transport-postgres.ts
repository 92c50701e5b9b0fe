// placeholder while the traffic room is being built
import type { PostgresDoor } from './postgres-door.ts'
import { openPostgres as a, joinTransaction as b } from './postgres-refused.ts'
export const openPostgres: PostgresDoor['openPostgres'] = a
export const joinTransaction: PostgresDoor['joinTransaction'] = b
