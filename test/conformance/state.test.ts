// Versioned state on both ways: a lost write is a value with what stands there now, versions only rise.
import assert from 'node:assert/strict'
import { onEveryWay } from './every-way.ts'

onEveryWay(
  'a missing key is found: false with version 0, and expecting 0 creates it once',
  async ({ lockstep, named }) => {
    const key = named('k')
    const missing = await lockstep.kv.get('orders', key)
    assert.deepEqual({ ...missing }, { found: false, key, version: 0 })
    assert.equal(missing.value, undefined)
    const made = await lockstep.kv.put('orders', key, { status: 'paid' }, { ttl: '30d', expect: missing.version })
    assert.equal(made.applied, true)
    const lost = await lockstep.kv.put('orders', key, { status: 'other' }, { ttl: '30d', expect: missing.version })
    assert.deepEqual(lost, { applied: false, key, reason: 'exists', value: { status: 'paid' }, version: made.version })
    const found = await lockstep.kv.get<{ status: string }>('orders', key)
    assert.ok(found.found)
    assert.equal(found.value.status, 'paid')
    assert.equal(found.version, made.version)
    assert.match(found.expiresAt ?? '', /Z$/)
  },
)

onEveryWay('a null value is there, a kept-for-ever key has no expiry', async ({ lockstep, named }) => {
  await lockstep.kv.put('n', named('k'), null, { forever: true })
  const entry = await lockstep.kv.get('n', named('k'))
  assert.deepEqual([entry.found, entry.value, entry.found && entry.expiresAt], [true, null, null])
})

onEveryWay(
  'a write at a version that moved is lost with the winner, a pure update never creates',
  async ({ lockstep, named }) => {
    const key = named('k')
    const first = await lockstep.kv.put('o', key, 1, { ttlSeconds: 60 })
    const second = await lockstep.kv.put('o', key, 2, { ttlSeconds: 60, expect: first.version })
    assert.ok(second.applied && second.version > first.version)
    const lost = await lockstep.kv.put('o', key, 3, { ttlSeconds: 60, expect: first.version })
    assert.deepEqual(lost, { applied: false, key, reason: 'version', value: 2, version: second.version })
    const required = await lockstep.kv.put('o', key, 3, { ttlSeconds: 60, expect: first.version, required: true })
    assert.deepEqual(required, lost)
    const absent = await lockstep.kv.put('o', named('nobody'), 3, { ttlSeconds: 60, expect: first.version })
    assert.ok(!absent.applied)
    assert.equal(absent.reason, 'absent')
    assert.equal(absent.value, undefined)
  },
)

onEveryWay('putIfAbsent, delete and check', async ({ lockstep, named }) => {
  const key = named('k')
  const made = await lockstep.kv.putIfAbsent('o', key, 'a', { ttl: '1h' })
  assert.equal(made.applied, true)
  assert.equal((await lockstep.kv.putIfAbsent('o', key, 'b', { ttl: '1h' })).applied, false)
  assert.equal((await lockstep.kv.check('o', key, { expect: made.version })).applied, true)
  const failed = await lockstep.kv.check('o', key, { expect: 0 })
  assert.ok(!failed.applied)
  assert.equal(failed.value, 'a')
  assert.equal((await lockstep.kv.delete('o', key, { expect: made.version + 1_000_000 })).applied, false)
  assert.equal((await lockstep.kv.delete('o', key, { expect: made.version })).applied, true)
  assert.equal((await lockstep.kv.get('o', key)).found, false)
  const again = await lockstep.kv.put('o', key, 'c', { ttl: '1h' })
  assert.ok(again.version > made.version, 'versions rise across a deletion')
})

onEveryWay('incr is exact, bounded, and starts at 0', async ({ lockstep, named }) => {
  const key = named('k')
  const values = []
  for (const delta of [0.1, 0.2, -0.3, 5]) {
    values.push((await lockstep.kv.incr('c', key, delta, { ttl: '1h' })).value)
  }
  assert.deepEqual(values, [0.1, 0.3, 0, 5])
  const over = await lockstep.kv.incr('c', key, 6, { ttl: '1h', max: 10 })
  assert.ok(!over.applied)
  assert.deepEqual([over.reason, over.value], ['limit', 5])
  await lockstep.kv.put('c', named('text'), 'x', { ttl: '1h' })
  const typed = await lockstep.kv.incr('c', named('text'), 1, { ttl: '1h' })
  assert.ok(!typed.applied)
  assert.equal(typed.reason, 'type')
})

onEveryWay('getMany and getPrefix answer what is there, in byte order, page by page', async ({ lockstep, named }) => {
  const prefix = named('p/')
  for (const key of ['b', 'a', 'c', 'B']) await lockstep.kv.put('many', prefix + key, key, { ttl: '1h' })
  const many = await lockstep.kv.getMany('many', [`${prefix}a`, `${prefix}zz`])
  assert.deepEqual(
    many.entries.map((entry) => entry.value),
    ['a'],
  )
  assert.deepEqual(many.missing, [`${prefix}zz`])
  assert.equal(many.truncated, false)
  const page = await lockstep.kv.getPrefix('many', prefix, { limit: 3 })
  assert.deepEqual(
    page.entries.map((entry) => entry.value),
    ['B', 'a', 'b'],
  )
  assert.ok(page.truncated && page.nextAfter !== null)
  const rest = await lockstep.kv.getPrefix('many', prefix, { limit: 3, after: page.nextAfter })
  assert.deepEqual(
    rest.entries.map((entry) => entry.value),
    ['c'],
  )
  assert.equal(rest.nextAfter, null)
  const keys = await lockstep.kv.getPrefix('many', prefix, { keysOnly: true })
  assert.deepEqual(
    keys.entries.map((entry) => [entry.key, entry.value]),
    ['B', 'a', 'b', 'c'].map((key) => [prefix + key, undefined]),
  )
})

onEveryWay('an expired key does not exist', async ({ lockstep, named }) => {
  await lockstep.kv.put('short', named('k'), 1, { ttl: '1s' })
  assert.equal((await lockstep.kv.get('short', named('k'))).found, true)
  const started = performance.now()
  while ((await lockstep.kv.get('short', named('k'))).found) assert.ok(performance.now() - started < 60_000)
  assert.equal((await lockstep.kv.putIfAbsent('short', named('k'), 2, { ttl: '1s' })).applied, true)
})

onEveryWay('a lifetime is said exactly once, in whole seconds', async ({ lockstep }) => {
  const refused: readonly unknown[] = [
    {},
    undefined,
    { ttl: '1w' },
    { ttl: '1500ms' },
    { ttl: 30 },
    { ttlSeconds: 0 },
    { ttl: '1d', forever: true },
  ]
  for (const options of refused) {
    await assert.rejects(
      async () => Reflect.apply(Reflect.get(lockstep.kv, 'put'), lockstep.kv, ['o', 'k', 1, options]),
      { name: 'LockstepError', status: 400 },
      JSON.stringify(options),
    )
  }
})

onEveryWay('a value and a name are checked before they are written', async ({ lockstep }) => {
  await assert.rejects(lockstep.kv.put('o', 'k', { n: 1n }, { ttl: '1d' }), { code: 'unserializable' })
  await assert.rejects(lockstep.kv.put('Not A Namespace', 'k', 1, { ttl: '1d' }), { code: 'kv_bad_request' })
  await assert.rejects(lockstep.kv.put('o', '', 1, { ttl: '1d' }), { code: 'kv_bad_request' })
  await assert.rejects(lockstep.kv.put('o', 'k', 'x'.repeat(70_000), { ttl: '1d' }), { code: 'payload_too_large' })
  await assert.rejects(lockstep.kv.check('o', 'k', { expect: -1 }), { code: 'kv_bad_request' })
})
