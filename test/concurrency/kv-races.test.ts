// Races of two sessions over one key, each interleaving forced: versions only rise (also over deletion and re-creation),
// a check holds its key to the commit, and calls that name the same keys in opposite order never deadlock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../../src/testing/database.ts'
import { ordersOf } from '../../src/testing/orders-of.ts'
import { openSessions, type Result } from '../../src/testing/sessions.ts'

const put = (key: string, value: string, expect = 'null'): string =>
  `select version, applied, reason from lockstep.kv_put('t', '${key}', '${value}', p_forever => true, p_expect => ${expect})`
const remove = (key: string): string => `select version, applied from lockstep.kv_delete('t', '${key}')`
const check = (key: string, version: string): string =>
  `select applied, reason from lockstep.kv_check('t', '${key}', ${version})`

const row = (result: Result): readonly unknown[] => {
  assert.ok('rows' in result, 'error' in result ? result.error : '')
  return result.rows[0] ?? []
}
const version = (result: Result): number => Number(row(result)[0])

test('a writer that waited gets a version above the one it waited for', async (t) => {
  const own = await createTestDatabase(t)
  const { a, b } = await openSessions(own, ['a', 'b'])
  // The first round creates the row, the second updates it.
  for (let round = 0; round < 2; round++) {
    await a.run('begin')
    const first = version(await a.run(put('k', '1')))
    assert.equal(await b.start(put('k', '2')), 'blocked')
    const other = version(await a.run(put('z', '1')))
    await a.run('commit')
    const second = version(await b.result())
    assert.ok(second > first && second > other, `${second} came after ${first} and ${other}`)
  }
})

test('a writer that waited for a deletion creates with a version above the deletion', async (t) => {
  const own = await createTestDatabase(t)
  const { a, b, c } = await openSessions(own, ['a', 'b', 'c'])
  const seen = [version(await a.run(put('k', '1')))]
  await a.run('begin')
  seen.push(version(await a.run(remove('k'))))
  assert.equal(await b.start(put('k', '2', '0')), 'blocked')
  await a.run('commit')
  seen.push(version(await b.result()))
  seen.push(version(await c.run(remove('k'))))
  seen.push(version(await c.run(put('k', '3', '0'))))
  assert.deepEqual(
    seen,
    seen.toSorted((x, y) => x - y),
  )
  assert.equal(new Set(seen).size, seen.length)
})

test('the row vanishing under a waiting writer (swept) does not let it write without a lock', async (t) => {
  const own = await createTestDatabase(t)
  const { a, b } = await openSessions(own, ['a', 'b'])
  const before = version(await a.run(put('k', '1')))
  await a.run(remove('k'))
  await a.run('begin')
  await a.run(`delete from lockstep.kv where key = 'k'`)
  assert.equal(await b.start(put('k', '2', '0')), 'blocked')
  await a.run('commit')
  assert.ok(version(await b.result()) > before)
  await a.run('begin')
  await a.run(`delete from lockstep.kv where key = 'k'`)
  assert.equal(await b.start(check('k', '0')), 'blocked')
  await a.run('commit')
  assert.deepEqual(row(await b.result()), [true, null])
})

test('of two writers with the same expectation exactly one wins, in every interleaving', async (t) => {
  const own = await createTestDatabase(t)
  const { a, b } = await openSessions(own, ['a', 'b'])
  const table = { a, b }
  let round = 0
  for (const numbers of ordersOf([3, 3])) {
    const order = numbers.map((at) => (at === 0 ? 'a' : 'b'))
    const key = `k${round++}`
    const expected = round % 2 === 0 ? String(version(await a.run(put(key, '0')))) : '0'
    const next = { a: ['begin', put(key, '1', expected), 'commit'], b: ['begin', put(key, '2', expected), 'commit'] }
    const verdicts = { a: [] as Promise<Result>[], b: [] as Promise<Result>[] }
    const waiting = new Set<'a' | 'b'>()
    for (const name of order) {
      // A session that waits takes its further steps when it is free again.
      if (waiting.has(name)) continue
      const step = next[name].shift()
      if (step === undefined) continue
      const state = await table[name].start(step)
      verdicts[name].push(table[name].result())
      if (state === 'blocked') waiting.add(name)
      if (step === 'commit') {
        for (const other of waiting) await table[other].result()
        waiting.clear()
      }
    }
    for (const name of ['a', 'b'] as const) {
      for (const step of next[name]) verdicts[name].push(Promise.resolve(await table[name].run(step)))
    }
    const results = await Promise.all([verdicts.a[1], verdicts.b[1]])
    const won = results.filter((result) => result !== undefined && row(result)[1] === true)
    assert.equal(won.length, 1, `order ${order.join('')}: ${JSON.stringify(results)}`)
    const lost = results.find((result) => result !== undefined && row(result)[1] !== true)
    assert.equal(lost && row(lost)[2], expected === '0' ? 'exists' : 'version')
  }
  assert.equal(round, 20)
})

test('a check holds its key until the commit: the writer waits, so guarded work never commits under a moved guard', async (t) => {
  const own = await createTestDatabase(t)
  const { a, b } = await openSessions(own, ['a', 'b'])
  const guard = version(await a.run(put('lock', '"a"')))
  for (const [key, expected] of [
    ['lock', String(guard)],
    ['free', '0'],
  ] as const) {
    await a.run('begin')
    assert.deepEqual(row(await a.run(check(key, expected))), [true, null])
    assert.equal(await b.start(put(key, '"b"')), 'blocked')
    await a.run(put('work', '1'))
    await a.run('commit')
    assert.equal(row(await b.result())[1], true)
    assert.equal(row(await a.run(check(key, expected)))[0], false)
  }
})

test('checks of one key share it: neither waits for the other', async (t) => {
  const own = await createTestDatabase(t)
  const { a, b } = await openSessions(own, ['a', 'b'])
  const guard = String(version(await a.run(put('lock', '"a"'))))
  await a.run('begin')
  await a.run(check('lock', guard))
  await b.run('begin')
  assert.equal(await b.start(check('lock', guard)), 'done')
  assert.deepEqual(row(await b.result()), [true, null])
  await b.run('commit')
  await a.run('commit')
})

test('calls naming the same keys in opposite order never deadlock, with checks and absent keys among them', async (t) => {
  const { connect } = await createTestDatabase(t)
  const keys = ['a', 'b', 'c', 'd']
  const lines = (order: readonly string[], round: number) => {
    const op = order.map((_, at) => ((at + round) % 3 === 0 ? 'check' : 'incr'))
    const n = order.map(() => 'null')
    const list = (values: readonly string[]) => `'{${values.join(',')}}'`
    return `select * from lockstep.kv_joined(${[
      list(order.map((_, at) => String(at % 2))),
      list(order.map((_, at) => String(at >> 1))),
      list(op),
      list(order.map((_, at) => (at % 2 === round % 2 ? 't' : 's'))),
      list(order),
      list(n),
      list(op.map((name) => (name === 'check' ? '0' : 'null'))),
      list(order.map(() => 'f')),
      list(n),
      list(op.map((name) => (name === 'incr' ? '1' : 'null'))),
      list(n),
      list(n),
      list(n),
      list(n),
      list(n),
    ].join(', ')})`
  }
  await Promise.all(
    Array.from({ length: 8 }, async (_, worker) => {
      // A plain client: no retry hides a 40P01.
      const client = await connect()
      for (let round = 0; round < 60; round++) {
        const order = worker % 2 === 0 ? keys : keys.toReversed()
        await client.query(lines(order, round))
      }
    }),
  )
  const admin = await connect()
  const { rows } = await admin.query<{ value: string }>(`select value from lockstep.kv where version > 0`)
  const total = rows.reduce((sum, { value }) => sum + Number(value), 0)
  const wanted = Array.from({ length: 60 }, (_, round) => [0, 1, 2, 3].filter((at) => (at + round) % 3 !== 0).length)
  assert.equal(total, 8 * wanted.reduce((sum, n) => sum + n, 0))
})
