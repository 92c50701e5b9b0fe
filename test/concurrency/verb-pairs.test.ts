// Every pair of verbs at once in one world: those that share the most in every order of their beginnings and commits, the
// others with both begun before one commits (in every order too in the long run). No deadlock is broken, nothing lost or doubled.
import assert from 'node:assert/strict'
import test from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { endActors, interleave, openActors } from '../kit/interleave.ts'
import { assertSound, deadlocks } from '../kit/soundness.ts'
import { inTurn, LIVELY, sets, specification } from '../kit/verb-specification.ts'
import { VERBS } from '../kit/verbs.ts'

const LONG = process.env['LOCKSTEP_LONG'] === '1'
const NEWEST = 18

const all = Object.keys(VERBS)
const pairs = sets(all, 2)

for (const one of all) {
  void test(`${one} runs beside every other verb, whoever begins and commits first`, async (t) => {
    const own = await createTestDatabase(t)
    const newest = await isNewest(own)
    let orders = 0
    const actors = await openActors(own, 2)
    for (const names of pairs.filter(([first]) => first === one)) {
      const lively = names.every((name) => LIVELY.includes(name))
      if (LONG || (newest && lively)) orders += await interleave(own, specification(names), () => true, actors)
      else if (newest || lively || names[0] === names[1])
        orders += await interleave(own, specification(names), lively ? inTurn : first, actors)
    }
    await endActors(actors)
    assert.ok(orders > 0)
    await assertSound(own)
    assert.equal(await deadlocks(own), 0)
  })
}

const first = (order: readonly number[]): boolean => inTurn(order) && order[0] === 0

async function isNewest({ database }: TestDatabase): Promise<boolean> {
  const [row] = await database.reader.rows(`select current_setting('server_version_num')::int / 10000`, [])
  return Number(row?.[0]) >= NEWEST
}
