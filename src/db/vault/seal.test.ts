// Sealed payloads: they open in their place and in no other, not after any change, and not without their key; two of the same
// transaction id are compared without being opened; rings that cannot be meant are refused without repeating a key.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { LockstepError } from '../../protocol/errors.ts'
import { createVault } from './create-vault.ts'
import { readKeyRing } from './key-ring.ts'
import { isSealed, open, seal } from './seal.ts'

const key = (): string => randomBytes(32).toString('base64')
const ITEM = { queue: 'q', partition: 'p', messageId: '01998f0e-0000-7000-8000-000000000001', transactionId: 't' }

function codeOf(work: () => unknown): string {
  try {
    work()
    return 'no fault'
  } catch (error) {
    return error instanceof LockstepError ? error.code : String(error)
  }
}

test('a payload comes back byte for byte, from its own place only', () => {
  const ring = readKeyRing(`k1:${key()}`)
  const other = { queue: 'other', partition: 'other', messageId: '01998f0e-0000-7000-8000-000000000002' }
  for (const payload of [
    '1',
    '"\\u0000"',
    '{"a":12345678901234567890,"b":"é😀"}',
    JSON.stringify('x'.repeat(100_000)),
  ]) {
    const sealed = seal(ring, { ...ITEM, payload })
    assert.ok(isSealed(sealed) && (payload.length < 3 || !sealed.includes(payload)))
    assert.equal(open(ring, ITEM, sealed), payload)
    assert.notEqual(seal(ring, { ...ITEM, payload }), sealed, 'never twice the same')
    for (const [name, value] of Object.entries(other)) {
      assert.equal(
        codeOf(() => open(ring, { ...ITEM, [name]: value }, sealed)),
        'payload_tampered',
        name,
      )
    }
  }
  // Names that read the same when they are joined carelessly are different places.
  const sealed = seal(ring, { ...ITEM, queue: 'a', partition: 'bc', payload: '1' })
  assert.equal(
    codeOf(() => open(ring, { ...ITEM, queue: 'ab', partition: 'c' }, sealed)),
    'payload_tampered',
  )
})

test('no change of a sealed payload opens', () => {
  const ring = readKeyRing(`k1:${key()} k2:${key()}`)
  const sealed = seal(ring, { ...ITEM, payload: '{"amount":1}' })
  const [mark, , hashes, body = ''] = sealed.split(':')
  const bytes = Buffer.from(body, 'base64url')
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    const forged = `${mark}:k1:${hashes}:${changed.toString('base64url')}`
    assert.equal(
      codeOf(() => open(ring, ITEM, forged)),
      'payload_tampered',
      `byte ${at}`,
    )
  }
  for (let length = 0; length < bytes.length; length += 1) {
    const cut = `${mark}:k1:${hashes}:${bytes.subarray(0, length).toString('base64url')}`
    assert.equal(
      codeOf(() => open(ring, ITEM, cut)),
      'payload_tampered',
      `cut to ${length}`,
    )
  }
  assert.equal(
    codeOf(() => open(ring, ITEM, `${mark}:k2:${hashes}:${body}`)),
    'payload_tampered',
    'under another key',
  )
  assert.equal(
    codeOf(() => open(ring, ITEM, `${mark}:k3:${hashes}:${body}`)),
    'encryption_key_missing',
  )
  assert.equal(
    codeOf(() => open(null, ITEM, sealed)),
    'encryption_key_missing',
  )
})

test('a key that was replaced still opens what it sealed, and repeats are known again across the rotation', () => {
  const [first, second] = [`k1:${key()}`, `k2:${key()}`]
  const before = readKeyRing(first)
  const after = readKeyRing(`${second},${first}`)
  const old = seal(before, { ...ITEM, payload: '{"a":1}' })
  assert.equal(open(after, ITEM, old), '{"a":1}')
  const hashes = (sealed: string): readonly string[] => sealed.split(':')[2]?.split(',') ?? []
  const shared = (one: string, two: string): boolean => hashes(one).some((hash) => hashes(two).includes(hash))
  assert.ok(shared(old, seal(after, { ...ITEM, messageId: 'another', payload: '{"a":1}' })))
  assert.ok(!shared(old, seal(after, { ...ITEM, payload: '{"a":2}' })))
  assert.ok(
    !shared(old, seal(after, { ...ITEM, transactionId: 'u', payload: '{"a":1}' })),
    'equal payloads do not show',
  )
  assert.deepEqual(hashes(seal(after, { ...ITEM, transactionId: null, payload: '1' })), [''])
})

test('the vault asks once for a queue, again when the time is over or when it was wrong, and seals what is encrypted', async () => {
  let now = 0
  const asked: (readonly string[])[] = []
  const vault = createVault(readKeyRing(`k1:${key()}`), () => now)
  const ask = async (queues: readonly string[]): Promise<readonly string[]> => {
    asked.push(queues)
    return ['secret']
  }
  const items = ['open', 'secret', 'open'].map((queue, at) => ({ ...ITEM, queue, messageId: String(at), payload: '1' }))
  const sealed = await vault.sealAll(items, ask)
  assert.deepEqual(
    sealed.map((item) => isSealed(item.payload)),
    [false, true, false],
  )
  assert.deepEqual(await vault.sealAll(sealed, ask), sealed, 'what is sealed stays')
  assert.deepEqual(asked, [['open', 'secret']])
  vault.forget(['open'])
  await vault.sealAll(items, ask)
  now = 30_001
  await vault.sealAll(items, ask)
  assert.deepEqual(asked, [['open', 'secret'], ['open'], ['open', 'secret']])
})

test('rings that cannot be meant are refused without repeating a key', () => {
  const good = key()
  for (const text of [
    '',
    ' , ',
    good,
    `:${good}`,
    `a b:${good}`,
    `k1:${good.slice(4)}`,
    `k1:${good},k1:${key()}`,
    `k1:${good}==x`,
    `${'k'.repeat(33)}:${good}`,
  ]) {
    assert.throws(
      () => readKeyRing(text),
      (error: Error) =>
        error.message.startsWith('the encryption keys must be') && !error.message.includes(good.slice(0, 20)),
      text,
    )
  }
  const many = Array.from({ length: 17 }, (_, at) => `k${at}:${key()}`)
  assert.throws(() => readKeyRing(many.join(',')), /at most 16/)
  assert.equal(readKeyRing(`hex:${randomBytes(32).toString('hex')}\nk2:${good}\n`).current.id, 'hex')
  assert.equal(readKeyRing(`k:${good}`).current.mark, readKeyRing(`k:${good}`).current.mark)
  assert.notEqual(readKeyRing(`k:${good}`).current.mark, readKeyRing(`k:${key()}`).current.mark)
})
