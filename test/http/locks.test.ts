// WIRE section 9: locks and semaphores as key/value rows, fenced by their version. A refusal names who holds it; what is
// malformed is refused with the wire's own reasons.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Untyped } from '../../src/client/untyped.ts'
import type { TestEnd } from '../../src/testing/database.ts'
import { moveClock } from '../kit/clock.ts'
import { serveSpread } from './served.ts'

async function stand(t: TestEnd) {
  const served = await serveSpread(t, { upkeep: false })
  const locks = async (...operations: unknown[]): Promise<Untyped[]> => {
    const { status, json, text } = await served.post('/api/v1/locks', { operations })
    assert.equal(status, 200, text)
    return json.results
  }
  const acquire = (name: string, owner: string | null, more: object = {}) => ({
    op: 'acquire',
    name,
    owner,
    ttlSeconds: 60,
    ...more,
  })
  const row = async (key: string): Promise<Untyped> =>
    (await served.post('/api/v1/kv', [{ op: 'get', ns: 'queen-locks', key }])).json.results[0]
  const commit = async (guard: unknown): Promise<Untyped> =>
    (
      await served.post('/api/v1/transaction', {
        operations: [{ type: 'push', items: [{ queue: 'guarded', payload: 1 }] }],
        kv: [guard],
      })
    ).json
  return { ...served, locks, acquire, row, commit }
}

test('a lock is a row: its token is the version, its owner the value; renew and release follow the token', async (t) => {
  const { locks, acquire, row, commit } = await stand(t)
  const [mine] = await locks(acquire('l', 'me'))
  assert.deepEqual(
    [mine.index, mine.op, mine.name, mine.acquired, mine.slot, mine.owner, 'already' in mine],
    [0, 'acquire', 'l', true, 0, 'me', false],
  )
  assert.deepEqual(mine.guard, { op: 'check', ns: 'queen-locks', key: 'l#0', expect: mine.token, required: true })
  const stored = await row('l#0')
  assert.deepEqual([stored.version, stored.value], [mine.token, { owner: 'me' }])

  const [again] = await locks(acquire('l', 'me'))
  assert.deepEqual([again.acquired, again.already, again.token], [true, true, mine.token])
  const [refused] = await locks(acquire('l', 'you'))
  assert.deepEqual([refused.acquired, refused.reason, refused.holders], [false, 'held', [{ slot: 0, owner: 'me' }]])
  const [nobody] = await locks(acquire('l', null))
  assert.equal(nobody.reason, 'held')

  const [renewed] = await locks({ op: 'renew', name: 'l', token: mine.token, ttlSeconds: 60 })
  assert.ok(renewed.renewed && renewed.token > mine.token)
  assert.equal((await commit(renewed.guard)).success, true)
  const stale = await commit(mine.guard)
  assert.deepEqual(
    [stale.success, stale.reason, stale.kvReason, stale.value.owner, stale.version],
    [false, 'kv_precondition', 'version', 'me', renewed.token],
  )
  const [carried] = await locks({ op: 'renew', name: 'l', token: mine.token, ttlSeconds: 60, owner: 'me' })
  assert.ok(carried.renewed && carried.token > renewed.token, "its owner's stale token is carried through")
  const [stranger] = await locks({ op: 'renew', name: 'l', token: mine.token, ttlSeconds: 60, owner: 'you' })
  assert.deepEqual(
    [stranger.renewed, stranger.reason, stranger.slot, stranger.holders],
    [false, 'lost', 0, [{ slot: 0, owner: 'me' }]],
  )
  const [seen] = await locks({ op: 'get', name: 'l' })
  const [holder] = seen.holders
  assert.deepEqual([seen.held, holder.slot, holder.owner, holder.token], [true, 0, 'me', carried.token])
  assert.ok(holder.since < holder.renewedAt && holder.renewedAt < holder.expiresAt)

  assert.equal((await locks({ op: 'release', name: 'l', token: mine.token }))[0].reason, 'lost')
  assert.deepEqual((await locks({ op: 'release', name: 'l', token: carried.token }))[0], {
    index: 0,
    op: 'release',
    name: 'l',
    released: true,
    slot: 0,
  })
  assert.equal((await row('l#0')).found, false)
  assert.equal((await commit(carried.guard)).kvReason, 'absent')
  assert.deepEqual((await locks({ op: 'get', name: 'l' }))[0].holders, [])
  const [next] = await locks(acquire('l', 'you'))
  assert.ok(next.token > carried.token, 'the next holder has a higher token')
})

test('an expired permit is free: its renewal, release and guard lose, whoever has it now', async (t) => {
  const { locks, acquire, commit, db } = await stand(t)
  const [mine] = await locks(acquire('l', 'me', { ttlSeconds: 10 }))
  await moveClock(db, 11)
  assert.equal((await commit(mine.guard)).kvReason, 'absent')
  const lost = await locks({ op: 'renew', name: 'l', token: mine.token, ttlSeconds: 10, owner: 'me' })
  assert.deepEqual([lost[0].renewed, lost[0].holders], [false, []])
  const [yours] = await locks(acquire('l', 'you'))
  assert.ok(yours.acquired && yours.token > mine.token)
  assert.equal((await locks({ op: 'release', name: 'l', token: mine.token }))[0].released, false)
  assert.equal((await commit(mine.guard)).kvReason, 'version')
  assert.equal((await commit(yours.guard)).success, true)
})

test('a semaphore never has more holders than its limit, and a freed slot is what the next one gets', async (t) => {
  const { locks, acquire } = await stand(t)
  const asked = await Promise.all(
    Array.from({ length: 40 }, (_, n) => locks(acquire('s', `o${n}`, { limit: 5 })).then(([one]) => one)),
  )
  const held = asked.filter((one) => one.acquired)
  assert.deepEqual(
    held.map((one) => one.slot).toSorted((a, b) => a - b),
    [0, 1, 2, 3, 4],
  )
  for (const one of asked.filter((other) => !other.acquired)) {
    assert.equal(one.reason, 'held')
  }
  const third = held.find((one) => one.slot === 3)
  assert.deepEqual(
    [third.guard.key, (await locks(acquire('s', third.owner, { limit: 5 })))[0].token],
    ['s#3', third.token],
  )
  assert.equal((await locks({ op: 'release', name: 's', token: third.token, slot: 3 }))[0].released, true)
  const [next] = await locks(acquire('s', 'late', { limit: 5 }))
  assert.deepEqual([next.acquired, next.slot], [true, 3])
  assert.equal((await locks({ op: 'get', name: 's' }))[0].holders.length, 5)
  // One owner that asks many times at once holds one permit.
  const same = await Promise.all(Array.from({ length: 12 }, () => locks(acquire('twin', 'me', { limit: 8 }))))
  assert.equal(new Set(same.map(([one]) => one.token)).size, 1)
  const largest = await locks(acquire('big', 'me', { limit: 1_024 }))
  assert.equal(largest[0].acquired, true)
})

test('of many that want a lock at once, one has it', async (t) => {
  const { locks, acquire, sql } = await stand(t)
  for (const round of Array.from({ length: 5 }, (_, n) => n)) {
    const asked = await Promise.all(
      Array.from({ length: 30 }, (_, n) => locks(acquire(`l${round}`, `o${n}`), acquire('other', `o${round}-${n}`))),
    )
    assert.equal(asked.filter(([one]) => one.acquired).length, 1)
    assert.ok(asked.filter(([one]) => !one.acquired).every(([one]) => ['held', 'contended'].includes(one.reason)))
  }
  const odd = ['a', 'a!', 'a b', 'ü/ß', '$', '\u{1f600}', 'x'.repeat(256)]
  const taken = await locks(...odd.map((name) => acquire(name, name)))
  assert.ok(taken.every((one) => one.acquired))
  const seen = await locks(...odd.map((name) => ({ op: 'get', name })))
  assert.deepEqual(
    seen.map((one) => one.holders.map((holder: Untyped) => holder.owner)),
    odd.map((name) => [name]),
  )
  const [plan] = await sql(
    `select count(*)::int as permits from lockstep.kv where ns = 'queen-locks' and expires_at > now()`,
  )
  assert.equal(plan?.['permits'], 5 + 1 + odd.length)
})

test("rows of the namespace that were not written by a lock are nobody's permit, and hurt no lock", async (t) => {
  const { locks, acquire, post } = await stand(t)
  const put = (key: string, value: unknown) => ({ op: 'put', ns: 'queen-locks', key, value, forever: true })
  await post('/api/v1/kv', [
    put('l#x', 1),
    put('l#00', 1),
    put('l#99999', {}),
    put('m#0', 'a\u0000b'),
    put('m#1', { owner: 7 }),
  ])
  assert.equal((await locks(acquire('l', 'me')))[0].acquired, true)
  assert.deepEqual((await locks(acquire('m', 'me', { limit: 2 })))[0].holders, [
    { slot: 0, owner: null },
    { slot: 1, owner: '7' },
  ])
})

test('what is malformed is refused with the reason of the wire, and nothing of the call is done', async (t) => {
  const { acquire, post, locks } = await stand(t)
  const renew = { op: 'renew', name: 'a', token: 1, ttlSeconds: 5 }
  const cases: readonly [string, unknown][] = [
    ['locks_bad_body', '[{'],
    ['locks_bad_body', '7'],
    ['locks_bad_body', {}],
    ['locks_bad_op', [3]],
    ['locks_unknown_op', [{ op: 'steal', name: 'a' }]],
    ['locks_too_many_ops', Array.from({ length: 65 }, (_, n) => ({ op: 'get', name: `l${n}` }))],
    ['locks_duplicate_in_call', [acquire('a', 'x'), { op: 'get', name: 'a' }]],
    ['locks_bad_name', [acquire('', 'x')]],
    ['locks_bad_name', [acquire('a#1', 'x')]],
    ['locks_bad_name', [acquire('a\n', 'x')]],
    ['locks_bad_name', [acquire('x'.repeat(257), 'x')]],
    ['locks_ttl_required', [acquire('a', 'x', { ttlSeconds: undefined })]],
    ['locks_bad_ttl', [acquire('a', 'x', { ttlSeconds: 0 })]],
    ['locks_bad_ttl', [acquire('a', 'x', { ttlSeconds: 1.5 })]],
    ['locks_bad_ttl', [acquire('a', 'x', { ttlSeconds: '5' })]],
    ['locks_bad_ttl', [acquire('a', 'x', { ttlSeconds: 1e12 })]],
    ['locks_bad_owner', [acquire('a', '')]],
    ['locks_bad_owner', [acquire('a', 'x'.repeat(257))]],
    ['locks_bad_owner', [acquire('a', 'x\u0007')]],
    ['locks_bad_limit', [acquire('a', 'x', { limit: 0 })]],
    ['locks_bad_limit', [acquire('a', 'x', { limit: 1_025 })]],
    ['locks_token_required', [{ ...renew, token: undefined }]],
    ['locks_bad_token', [{ ...renew, token: 0 }]],
    ['locks_bad_token', [{ op: 'release', name: 'a', token: '1' }]],
    ['locks_bad_slot', [{ ...renew, slot: -1 }]],
    ['locks_bad_slot', [{ ...renew, slot: 1_024 }]],
  ]
  for (const [reason, body] of cases) {
    const { status, json, text } = await post('/api/v1/locks', body)
    assert.deepEqual([status, json.error, json.reason], [400, 'locks_bad_request', reason], text)
    assert.equal(typeof json.detail, 'string')
  }
  const fine = await locks(
    acquire('x'.repeat(256), 'y'.repeat(256), { ttlSeconds: 3_155_760_000 }),
    ...Array.from({ length: 63 }, (_, n) => ({ op: 'get', name: `l${n}` })),
  )
  assert.deepEqual([fine.length, fine[0].acquired], [64, true])
  const once = { operations: [acquire('once', null)], requestId: 'r' }
  const first = await post('/api/v1/locks', once)
  assert.equal((await post('/api/v1/locks', once)).text, first.text)
})
