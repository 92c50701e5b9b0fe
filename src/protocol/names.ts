// The rules of names. One alphabet for all of them: any Unicode text without NUL, counted in bytes of UTF-8, compared byte
// by byte (so `A` and `a`, composed and decomposed é are different names). `.` and `..` are refused, because URL paths
// cannot carry them. Names are values: nothing here may ever become an identifier in a statement.
import { list, refuse, text } from './check.ts'
import type { Field } from './check.ts'
import { LIMITS } from './limits.ts'

/** The rule of names that travel in a path. */
export const noDots = (name: string): string | null =>
  name === '.' || name === '..' ? "another name than '.' and '..', which no URL path can carry" : null

const name = (min: number): Field<string> =>
  text({ min, max: LIMITS.nameBytes, longCode: 'name_too_long', rule: noDots })

/** A queue may be called '' (the wire allows it); it is then reached by push and configure, and by SQL. */
export const queueName: Field<string> = name(0)
export const partitionName: Field<string> = name(1)
export const groupName: Field<string> = name(1)
export const namespaceName: Field<string> = text({ max: LIMITS.namespaceBytes, longCode: 'name_too_long' })
export const transactionIdText: Field<string> = text({ min: 1, max: LIMITS.transactionIdBytes })
export const traceIdText: Field<string> = text({ max: LIMITS.traceIdBytes })
export const requestIdText: Field<string> = text({ min: 1, max: LIMITS.requestIdBytes })
export const leaseIdText: Field<string> = text({ min: 0, max: LIMITS.nameBytes })
export const errorText: Field<string> = text({ max: LIMITS.errorTextBytes })

const NS = /^[a-z0-9][a-z0-9._-]{0,63}$/

export const kvNamespace: Field<string> = {
  type: 'a namespace: a-z and 0-9 first, then also . _ -, 64 at most',
  optional: false,
  schema: { type: 'string', pattern: NS.source },
  read(value, place, field) {
    if (typeof value !== 'string' || !NS.test(value)) refuse(place, field, kvNamespace.type)
    return value
  },
}
export const kvKey: Field<string> = text({ min: 1, max: LIMITS.kvKeyBytes })
export const kvKeys: Field<readonly string[]> = list(LIMITS.kvGetManyKeys, kvKey)

export const timerKey: Field<string> = text({ min: 1, max: LIMITS.timerKeyBytes, rule: noDots })

const noControls = (what: string): string | null => (/\p{Cc}/u.test(what) ? 'text without control characters' : null)
const noSlot = (lock: string): string | null =>
  lock.includes('#') ? "text without '#', which parts a lock's name from its slot" : noControls(lock)

export const lockName: Field<string> = text({ min: 1, max: LIMITS.lockNameBytes, rule: noSlot })
export const lockOwner: Field<string> = text({ min: 1, max: LIMITS.lockNameBytes, rule: noControls })
