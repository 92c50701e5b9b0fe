// The proxy: it changes nothing until it is told to, and then it cuts exactly where it was told.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { startProxy, type CutPoint } from './proxy.ts'
import { waitFor } from './sessions.ts'

async function connected(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  return client
}

async function stored({ database }: TestDatabase): Promise<number> {
  return (await database.rows('select x from t', [])).length
}

test('statements and results of any size pass unchanged in both directions', async (t) => {
  const own = await createTestDatabase(t, { migrated: false })
  const proxy = await startProxy(own.connectionString)
  const client = await connected(proxy.connectionString)
  for (const size of [0, 1, 65_535, 3_000_000]) {
    const { rows } = await client.query<{ length: number; text: string }>('select length($1) as length, $1 as text', [
      'x'.repeat(size),
    ])
    assert.equal(rows[0]?.length, size)
    assert.equal(rows[0].text.length, size)
  }
  assert.equal((await client.query(`select 'commit'`)).rowCount, 1)
  await client.end()
  await proxy.stop()
})

for (const [point, effects] of [
  ['before-commit', 0],
  ['after-commit', 1],
  ['before-ready', 1],
  ['before-answer', 1],
] as const satisfies readonly (readonly [CutPoint, number])[]) {
  test(`cut ${point}: the next COMMIT of a client takes effect ${effects} times and its answer does not come back`, async (t) => {
    const own = await createTestDatabase(t, { migrated: false })
    await own.database.rows('create table t (x int)', [])
    const proxy = await startProxy(own.connectionString)
    const client = await connected(proxy.connectionString)
    const cut = proxy.cutNext(point)
    await client.query('begin')
    await client.query('insert into t values (1)')
    await assert.rejects(client.query('commit'))
    await cut
    await waitFor('the effect', async () => (await stored(own)) === effects)
    // Only the next one: whoever comes later is served.
    const next = await connected(proxy.connectionString)
    await next.query('begin; insert into t values (2); commit')
    assert.equal(await stored(own), effects + 1)
    await next.end()
    await proxy.stop()
  })
}

test('a cut of all connections is met at once, a silent one not until it speaks again', async (t) => {
  const own = await createTestDatabase(t, { migrated: false })
  const proxy = await startProxy(own.connectionString)
  const cutOff = await connected(proxy.connectionString)
  proxy.cutAll()
  await assert.rejects(cutOff.query('select 1'))
  const silent = await connected(proxy.connectionString)
  proxy.blackhole()
  let answered = false
  const answer = silent.query('select 1').then(() => (answered = true))
  await own.database.rows('select 1', [])
  assert.equal(answered, false)
  proxy.resume()
  assert.equal(await answer, true)
  await silent.end()
  await proxy.stop()
})
