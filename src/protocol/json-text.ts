// Turns a value into JSON text, or refuses what JSON could only carry changed: BigInt, NaN, Infinity, undefined, functions,
// symbols, cycles, maps, sets, buffers without toJSON and invalid dates, each by its path. Never drops or rewrites a member.
import { LockstepError } from './errors.ts'
import { LIMITS } from './limits.ts'

const PLAIN_NAME = /^[A-Za-z_$][\w$]*$/

/** Of a path longer than this its two ends are told. */
const PATH_CHARACTERS = 240

function refuse(path: string, why: string): never {
  const told =
    path.length <= PATH_CHARACTERS ? path : `${path.slice(0, PATH_CHARACTERS / 2)}…${path.slice(-PATH_CHARACTERS / 2)}`
  throw new LockstepError('unserializable', `${told} cannot be JSON: ${why}`, { path: told })
}

function child(path: string, key: string): string {
  return PLAIN_NAME.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`
}

/** The name of an object that JSON.stringify would print as something else, or null when it is carried whole. */
function lossy(value: object): string | null {
  if (value instanceof Map) return 'a Map (use Object.fromEntries)'
  if (value instanceof Set) return 'a Set (use an array)'
  if (value instanceof WeakMap || value instanceof WeakSet) return 'a weak collection'
  if (value instanceof Promise) return 'a Promise (await it first)'
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return 'bytes (encode them, say as base64)'
  if (value instanceof RegExp) return 'a RegExp'
  return null
}

function check(value: unknown, path: string, key: string, above: Set<object>): void {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return
    case 'number':
      if (!Number.isFinite(value)) refuse(path, `${value} is not a JSON number`)
      return
    case 'bigint':
      return refuse(path, 'a BigInt (send it as text)')
    case 'undefined':
      return refuse(path, 'undefined (leave the member out, or say null)')
    case 'function':
      return refuse(path, 'a function')
    case 'symbol':
      return refuse(path, 'a symbol')
    case 'object':
      break
  }
  if (value === null) return
  if (above.has(value)) refuse(path, 'it contains itself')
  if (above.size >= LIMITS.jsonDepth) refuse(path, `nested deeper than ${LIMITS.jsonDepth}`)
  above.add(value)
  checkObject(value, path, key, above)
  above.delete(value)
}

function checkObject(value: object, path: string, key: string, above: Set<object>): void {
  if (value instanceof Date && Number.isNaN(value.getTime())) refuse(path, 'an invalid Date')
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    check(value.toJSON(key), path, key, above)
    return
  }
  const why = lossy(value)
  if (why !== null) refuse(path, why)
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) check(value[index], `${path}[${index}]`, String(index), above)
    return
  }
  for (const [name, member] of Object.entries(value)) check(member, child(path, name), name, above)
}

/** JSON text of the value. `path` begins the name of a member that cannot be carried, as in `items[0].data.total`. */
export function jsonText(value: unknown, path: string): string {
  check(value, path, '', new Set())
  return JSON.stringify(value)
}
