// Fused steps that name the same keys, lanes and partitions in crossing orders, many at once: class by class they lock in one
// order, so PostgreSQL has no deadlock to break, and every step has all of its effects or none.
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { ack } from '../../src/operations/ack.ts'
import { kv } from '../../src/operations/kv.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { transaction } from '../../src/operations/transaction.ts'
import type { Delivery } from '../../src/protocol/message.ts'
import type { TransactionRequest } from '../../src/protocol/transaction.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { drain } from '../kit/drain.ts'
import { assertSound, deadlocks } from '../kit/soundness.ts'
import { ackOf, item, popOf, stepOf } from '../kit/speech.ts'

const ROUNDS = process.env['LOCKSTEP_LONG'] === '1' ? 5_000 : 400
const WORKERS = 8
const QUEUES = ['zulu', 'mike', 'alpha']
const PARTITIONS = ['p1', 'p2', 'p3']
const KEYS = ['k1', 'k2', 'k3', 'k4']

test('random fused steps, acks, pushes and pops in crossed orders meet no deadlock and lose nothing', async (t) => {
  const seed = Number(process.env['LOCKSTEP_SEED'] ?? Date.now() % 2 ** 31)
  t.diagnostic(`replay: LOCKSTEP_SEED=${seed}`)
  const own = await createTestDatabase(t, { connections: WORKERS, lockTimeoutMs: 20_000 })
  for (const queue of QUEUES)
    await push(
      own.database,
      PARTITIONS.map((partition) => item(queue, partition, 'seed')),
    )
  const past: Delivery[] = []
  for (const queue of QUEUES) past.push(...(await drain(own, queue, 'g')))

  let stored = 0
  const added = new Map<string, number>(KEYS.map((key) => [key, 0]))
  const rounds = fc.sample(fc.array(stepArbitrary(past), { minLength: 1, maxLength: 4 }), { numRuns: ROUNDS, seed })
  let next = 0

  async function work(): Promise<void> {
    for (let nth = next++, steps = rounds[nth]; steps !== undefined; nth = next++, steps = rounds[nth]) {
      const results = await transaction(
        own.database,
        steps.map((step) => step.request()),
      )
      for (const [at, result] of results.entries()) {
        if (result === 'deferred' || !result.success) continue
        stored += steps[at]?.pushes ?? 0
        for (const key of steps[at]?.keys ?? []) added.set(key, (added.get(key) ?? 0) + 1)
      }
      if (nth % 5 === 0) {
        await push(
          own.database,
          QUEUES.toReversed().map((queue) => item(queue, 'p3', null)),
        )
        stored += QUEUES.length
      }
      if (nth % 7 === 0) await ack(own.database, [past.map((one) => ackOf(one, 'completed', { leaseId: null }))])
      if (nth % 3 === 0) await pop(own.database, popOf(QUEUES[nth % 2] ?? 'zulu', 'h', { autoAck: true }))
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, () => work()))

  let seen = 0
  for (const queue of QUEUES) seen += (await drain(own, queue, 'judge')).length
  assert.equal(seen, stored + QUEUES.length * PARTITIONS.length)
  const [counts] = await kv(own.database, [KEYS.map((key) => ({ op: 'get', ns: 'crossed', key }) as const)])
  assert.ok(counts?.ok)
  const values = counts.results.map((one) => (one.op === 'get' && one.found ? Number(one.row.value) : 0))
  assert.deepEqual(values, [...added.values()])
  await assertSound(own)
  assert.equal(await deadlocks(own), 0)
})

interface Drawn {
  readonly pushes: number
  readonly keys: readonly string[]
  request(): TransactionRequest
}

function stepArbitrary(past: readonly Delivery[]): fc.Arbitrary<Drawn> {
  return fc
    .record({
      keys: fc.shuffledSubarray(KEYS, { minLength: 0, maxLength: 3 }),
      pushes: fc.array(fc.tuple(fc.constantFrom(...QUEUES), fc.constantFrom(...PARTITIONS)), { maxLength: 3 }),
      acks: fc.shuffledSubarray([...past], { minLength: 0, maxLength: 3 }),
    })
    .map(({ keys, pushes, acks }) => ({
      keys,
      pushes: pushes.length,
      request: () =>
        stepOf({
          acks: acks.map((one) => ackOf(one, 'completed', { leaseId: null })),
          pushes: pushes.map(([queue, partition]) => item(queue, partition, null)),
          kv: keys.map((key) => ({
            op: 'incr',
            ns: 'crossed',
            key,
            delta: '1',
            min: null,
            max: null,
            ttlSeconds: null,
            required: true,
          })),
        }),
    }))
}
