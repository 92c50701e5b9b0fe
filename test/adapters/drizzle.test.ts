// The shared suite on its library, over both drivers, and what only it has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drizzle } from 'drizzle-orm/node-postgres'
import { createActions } from 'lockstep'
import { drizzleSteps } from 'lockstep/drizzle'
import { Pool } from 'pg'
import { z } from 'zod'
import { createTestDatabase } from '../../src/testing/database.ts'
import { adapterSuite } from './adapter-suite.ts'
import { openGround } from './ground.ts'
import { drizzlePostgresJsSubject } from './subjects/drizzle-postgres-js.ts'
import { drizzleSubject } from './subjects/drizzle.ts'

adapterSuite('drizzle', drizzleSubject)
adapterSuite('drizzle over postgres.js', drizzlePostgresJsSubject)

test('drizzle: its pool and the clients of it, also those from before, have somebody who listens for errors', async (t) => {
  const { connectionString } = await createTestDatabase(t)
  const pool = new Pool({ connectionString, max: 1 })
  const early = await pool.connect()
  early.release()
  drizzleSteps(drizzle({ client: pool }))
  drizzleSteps(drizzle({ client: pool }))
  assert.equal(pool.listenerCount('error'), 1)
  const client = await pool.connect()
  assert.equal(client, early)
  assert.equal(client.listenerCount('error'), 1)
  client.release()
  await pool.end()
})

test('drizzle: a program names its library once, and its handlers hold that typed transaction', async (t) => {
  const { subject } = await openGround(t, drizzleSubject)
  const { action } = createActions({ completion: subject.completion })
  const typed = action({ name: 'typed', input: z.object({ n: z.number() }) }, async (ctx, { n }) => {
    const tx = await ctx.completionTx()
    // @ts-expect-error Drizzle's query is not that of pg
    assert.equal(tx.query('select 1'), undefined)
    await tx.transaction(async (inner) => inner.execute('select 1'))
    return n
  })
  assert.equal(typed.name, 'typed')
})
