// The ring of encryption keys, read from one text: `name:key` pairs separated by commas or white space, the current one first,
// each key 32 bytes in base64 or hex. From each key three are derived, so that no bytes serve two purposes. No message repeats a key.
import { createHmac, hkdfSync } from 'node:crypto'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'

export interface RingKey {
  readonly id: string
  /** Keys of single messages are derived from it. */
  readonly sealing: Buffer
  /** Of the hashes by which two payloads are compared without opening them. */
  readonly comparing: Buffer
  /** By which the same key is known again. */
  readonly mark: string
}

export interface KeyRing {
  readonly current: RingKey
  readonly all: readonly RingKey[]
}

const KEY_BYTES = 32
const NAME = /^[A-Za-z0-9_-]{1,32}$/

const wrong = (right: string): LockstepError =>
  new LockstepError('bad_request', `the encryption keys must be ${right}`, { field: 'LOCKSTEP_ENCRYPTION_KEYS' })

export function readKeyRing(text: string): KeyRing {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '')
  if (entries.length > LIMITS.encryptionKeys) throw wrong(`at most ${LIMITS.encryptionKeys}`)
  const all = entries.map((entry, at) => readKey(entry, at + 1))
  const [current] = all
  if (current === undefined) throw wrong('at least one, as name:key')
  if (new Set(all.map((key) => key.id)).size < all.length) throw wrong('of different names')
  return { current, all }
}

function readKey(entry: string, nth: number): RingKey {
  const colon = entry.indexOf(':')
  const id = entry.slice(0, Math.max(colon, 0))
  if (!NAME.test(id)) throw wrong(`name:key pairs, each name 1 to 32 letters, digits, - or _; number ${nth} is not`)
  const master = bytesOf(entry.slice(colon + 1))
  if (master === null) throw wrong(`32 random bytes in base64 or hex; ${id} is not`)
  const derive = (purpose: string): Buffer =>
    Buffer.from(hkdfSync('sha256', master, '', `lockstep ${purpose} 1`, KEY_BYTES))
  const mark = createHmac('sha256', derive('mark')).update(id).digest('base64url')
  return { id, sealing: derive('seal'), comparing: derive('compare'), mark }
}

function bytesOf(text: string): Buffer | null {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  const bytes = /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : null
  return bytes?.length === KEY_BYTES ? bytes : null
}
