// Three verbs at once in one world, all begun before one commits; in the long run every three of the liveliest in all ninety
// orders.
import assert from 'node:assert/strict'
import test from 'node:test'
import { createTestDatabase } from '../../src/testing/database.ts'
import { interleave } from '../kit/interleave.ts'
import { assertSound, deadlocks } from '../kit/soundness.ts'
import { inTurn, LIVELY, sets, specification } from '../kit/verb-specification.ts'

const LONG = process.env['LOCKSTEP_LONG'] === '1'
const TRIPLES = [
  ['push to both partitions', 'ack', 'pop of a partition'],
  ['push to a new partition', 'first pop of a new group', 'staged push'],
  ['transaction', 'push to both partitions', 'unfenced repeated ack'],
  ['wildcard pop', 'release', 'push to both partitions'],
]

for (const names of LONG ? sets(LIVELY, 3) : TRIPLES)
  void test(`${names.join(', ')} at once, whoever begins and commits first`, async (t) => {
    const own = await createTestDatabase(t)
    assert.ok((await interleave(own, specification(names), LONG ? () => true : inTurn)) > 0)
    await assertSound(own)
    assert.equal(await deadlocks(own), 0)
  })
