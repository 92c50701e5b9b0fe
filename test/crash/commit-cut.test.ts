// B13: the connection dies around the COMMIT of each verb. The effect is there once or not at all, success is never said
// when it is not, "nothing was committed" is never said when it is, and a request id turns "unknown" into the first answer.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openDatabase } from '../../src/db/pool.ts'
import { transaction } from '../../src/operations/transaction.ts'
import { LockstepError } from '../../src/protocol/errors.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { startProxy, type CutPoint } from '../../src/testing/proxy.ts'
import { waitFor } from '../../src/testing/sessions.ts'
import { bump, KEY, leased, MESSAGES, nobody, step, VERBS, type Verb } from './cut-verbs.ts'

/** How often the effect must be there, and what is said. Once the tag has come, it is believed: the rest does not matter. */
const POINTS: Readonly<Record<CutPoint, { readonly effects: 0 | 1; readonly said: string | null }>> = {
  'before-commit': { effects: 0, said: 'outcome_unknown' },
  'after-commit': { effects: 1, said: 'outcome_unknown' },
  'before-ready': { effects: 1, said: null },
  'before-answer': { effects: 1, said: 'outcome_unknown' },
}

async function cut(t: Parameters<typeof createTestDatabase>[0], point: CutPoint, verb: Verb): Promise<void> {
  const own = await createTestDatabase(t)
  const lease = (await verb.prepare?.(own.database)) ?? null
  const proxy = await startProxy(own.connectionString)
  const through = openDatabase({ connectionString: proxy.connectionString, connections: 1 })
  await through.rows('select 1', [])

  const wasCut = proxy.cutNext(point)
  const error = await verb.run(through, lease ?? nobody).then(
    () => null,
    (fault: unknown) => fault,
  )
  await wasCut
  await through.close()
  await proxy.stop()

  const effects = async (): Promise<number> => Number((await own.database.rows(verb.effects, []))[0]?.[0])
  await waitFor('the server to end what it had', async () => {
    const rows = await own.database.rows(
      `select 1 from pg_stat_activity where datname = current_database() and application_name = 'lockstep'
       and backend_start < (select backend_start from pg_stat_activity where pid = pg_backend_pid()) and state <> 'idle'`,
      [],
    )
    return rows.length === 0
  })
  assert.equal(await effects(), POINTS[point].effects)
  assert.equal(error instanceof LockstepError ? error.code : error, POINTS[point].said)
}

for (const [name, verb] of Object.entries(VERBS)) {
  describe(name, { concurrency: 4 }, () => {
    for (const point of ['before-commit', 'after-commit', 'before-ready', 'before-answer'] as const) {
      const { effects, said } = POINTS[point]
      test(`cut ${point}: the effect is there ${effects} times, and what is said is ${said ?? 'success'}`, (t) =>
        cut(t, point, verb))
    }
  })
}

test('the same request id repeated after "unknown" gives the first answer and one effect, wherever the cut was', async (t) => {
  for (const point of ['before-commit', 'after-commit', 'before-ready', 'before-answer'] as const) {
    const own = await createTestDatabase(t)
    const lease = await leased(own.database)
    assert.ok(lease)
    const proxy = await startProxy(own.connectionString)
    const through = openDatabase({ connectionString: proxy.connectionString, connections: 1 })
    const wasCut = proxy.cutNext(point)
    const first = transaction(through, [step(lease, 'r')])
    await (point === 'before-ready' ? first : assert.rejects(first))
    await wasCut
    const [again] = await transaction(own.database, [step(lease, 'r')])
    assert.ok(typeof again === 'object' && again.success, point)
    assert.equal(again.replayed, point !== 'before-commit')
    assert.deepEqual(await own.database.rows(KEY, []), [['1']])
    assert.deepEqual(await own.database.rows(MESSAGES, []), [['2']])
    await through.close()
    await proxy.stop()
  }
})

test('a COMMIT that the server never answers is unknown after the deadline, and the client is thrown away', async (t) => {
  const own = await createTestDatabase(t)
  const proxy = await startProxy(own.connectionString)
  const through = openDatabase({
    connectionString: proxy.connectionString,
    connections: 1,
    statementTimeoutMs: 10,
    answerGraceMs: 200,
  })
  await through.rows('select 1', [])
  proxy.blackhole()
  await assert.rejects(bump(through), (error) => error instanceof LockstepError && error.code === 'outcome_unknown')
  assert.equal(through.pool.totalCount, 0)
  await proxy.stop()
  await through.close()
})
