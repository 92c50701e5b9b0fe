// The form of a sealed payload: `$1:<key>:<hashes>:<nonce, ciphertext, tag>`, text that no JSON begins like. AES-256-GCM under a key
// derived for the message alone and bound to its queue, partition and id, so that rows cannot be swapped. The hashes are keyed, one
// per key of the ring, over place, transaction id and payload: repeats are told from conflicts, across a rotation too.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { LockstepError } from '../../protocol/errors.ts'
import type { Sealable, SealPlace } from '../../protocol/vault.ts'
import type { KeyRing, RingKey } from './key-ring.ts'

const MARK = '$1:'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HASH_BYTES = 16

export const isSealed = (payload: string): boolean => payload.startsWith(MARK)

/** Names hold no NUL, so no two places read the same. */
const bindingOf = ({ queue, partition, messageId }: SealPlace): Buffer =>
  Buffer.from(`lockstep\0${queue}\0${partition}\0${messageId}`)

const messageKey = (key: RingKey, binding: Buffer): Buffer => createHmac('sha256', key.sealing).update(binding).digest()

export function seal(ring: KeyRing, item: Sealable): string {
  const { current } = ring
  const binding = bindingOf(item)
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', messageKey(current, binding), nonce)
  cipher.setAAD(binding)
  const sealed = Buffer.concat([nonce, cipher.update(item.payload, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${MARK}${current.id}:${hashesOf(ring, item)}:${sealed.toString('base64url')}`
}

/** Empty without a transaction id: a minted one is never repeated. */
function hashesOf({ all }: KeyRing, { queue, partition, transactionId, payload }: Sealable): string {
  if (transactionId === null) return ''
  const hashes = all.map((key) =>
    createHmac('sha256', key.comparing)
      .update(`${queue}\0${partition}\0${transactionId}\0`)
      .update(payload)
      .digest()
      .subarray(0, HASH_BYTES)
      .toString('base64url'),
  )
  return hashes.join(',')
}

export function keyOf(payload: string): string {
  return payload.slice(MARK.length, payload.indexOf(':', MARK.length))
}

export function open(ring: KeyRing | null, place: SealPlace, payload: string): string {
  const id = keyOf(payload)
  const key = ring?.all.find((each) => each.id === id)
  if (key === undefined) {
    throw new LockstepError(
      'encryption_key_missing',
      `a message of queue ${place.queue} is sealed with the key ${id}, which this process does not have`,
      { queue: place.queue, key: id },
    )
  }
  const binding = bindingOf(place)
  const sealed = Buffer.from(payload.slice(payload.lastIndexOf(':') + 1), 'base64url')
  try {
    const decipher = createDecipheriv('aes-256-gcm', messageKey(key, binding), sealed.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(binding)
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    const plain = [decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]
    return Buffer.concat(plain).toString('utf8')
  } catch (error) {
    throw new LockstepError(
      'payload_tampered',
      `message ${place.messageId} of queue ${place.queue}, partition ${place.partition} was changed or moved: it does not open`,
      { queue: place.queue, partition: place.partition, messageId: place.messageId },
      error,
    )
  }
}
