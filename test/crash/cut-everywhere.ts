// Cuts the connection before each single message of a verb's conversation, in either direction, and judges what was said by what is
// there: success only with the effect, "unavailable" only without it, and the effect once or not at all.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { openDatabase } from '../../src/db/pool.ts'
import { LockstepError } from '../../src/protocol/errors.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { startProxy, type FrameCut } from '../../src/testing/proxy.ts'
import { waitFor } from '../../src/testing/sessions.ts'
import { nobody, type Verb } from './cut-verbs.ts'

/** All of them takes minutes: a run of CI takes every fifth message, another fifth for each verb. */
const STRIDE = process.env['LOCKSTEP_LONG'] === '1' ? 1 : 5

interface Outcome {
  readonly cut: boolean
  readonly said: string
  readonly effects: number
}

async function cutAt(t: TestContext, verb: Verb, cut: FrameCut): Promise<Outcome> {
  const own = await createTestDatabase(t)
  const lease = (await verb.prepare?.(own.database)) ?? nobody
  const proxy = await startProxy(own.connectionString)
  const through = openDatabase({ connectionString: proxy.connectionString, connections: 1, applicationName: 'through' })
  await through.rows('select 1', [])
  let wasCut = false
  void proxy.cutNext(cut).then(() => (wasCut = true))
  const said = await verb.run(through, lease).then(
    () => 'success',
    (error: unknown) => (error instanceof LockstepError ? error.code : String(error)),
  )
  await proxy.stop()
  await through.close()
  await waitFor('the server to end what it had', async () => {
    const rows = await own.database.reader.rows(
      `select 1 from pg_stat_activity where datname = current_database() and application_name = 'through'`,
      [],
    )
    return rows.length === 0
  })
  const effects = Number((await own.database.rows(verb.effects, []))[0]?.[0])
  await own.drop()
  return { cut: wasCut, said, effects }
}

export const SIDES = ['client', 'server'] as const

/** How often something was cut; `index` is the verb's place among its like. */
export async function cutEverywhere(
  t: TestContext,
  verb: Verb,
  side: FrameCut['side'],
  index: number,
): Promise<number> {
  const seen = new Map<string, number>()
  for (let frame = index % STRIDE; ; frame += STRIDE) {
    const { cut, said, effects } = await cutAt(t, verb, { side, frame })
    const where = `${side} message ${frame}: ${said}, effect ${effects}`
    assert.ok(effects === 0 || effects === 1, where)
    if (said === 'success') assert.equal(effects, 1, where)
    else if (said === 'unavailable') assert.equal(effects, 0, where)
    else assert.equal(said, 'outcome_unknown', where)
    if (!cut) {
      assert.equal(said, 'success', where)
      break
    }
    seen.set(`${said} ${effects}`, (seen.get(`${said} ${effects}`) ?? 0) + 1)
  }
  t.diagnostic([...seen].map(([what, count]) => `${what}: ${count}`).join(', '))
  return [...seen.values()].reduce((sum, count) => sum + count, 0)
}
