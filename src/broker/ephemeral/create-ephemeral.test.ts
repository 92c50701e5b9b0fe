// Ephemeral queues over a clock that the test moves: who gets what, in which order, how often, and what leaves when.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EPHEMERAL_DEFAULTS } from '../../protocol/ephemeral.ts'
import type { EphemeralMessage, EphemeralOptions, EphemeralPop } from '../../protocol/ephemeral.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { createEphemeral } from './create-ephemeral.ts'

function stand(options: Partial<EphemeralOptions> = {}) {
  let now = 1_000
  const declared = new Map([['q', { ...EPHEMERAL_DEFAULTS, ...options }]])
  const ephemeral = createEphemeral({ declared: async () => declared, now: () => now })
  const never = new AbortController().signal
  const pop = (more: Partial<EphemeralPop> = {}): Promise<readonly EphemeralMessage[]> =>
    ephemeral.pop({ queue: 'q', partition: null, group: 'g', batch: 100, waitMs: 0, commit: false, ...more }, never)
  return {
    ephemeral,
    pop,
    push: (payloads: readonly number[], partition = 'p') => ephemeral.push('q', partition, payloads.map(String)),
    seen: async (more: Partial<EphemeralPop> = {}) => (await pop(more)).map(({ payload }) => Number(payload)),
    done: (messages: readonly EphemeralMessage[], status: 'completed' | 'failed' = 'completed', group = 'g') =>
      ephemeral
        .ack(
          'q',
          group,
          messages.map(({ id }) => ({ id, status })),
        )
        .map(({ outcome }) => outcome),
    advance: (ms: number) => (now += ms),
    depth: async () => {
      const found = await ephemeral.depth('q')
      assert.ok(found)
      return found
    },
  }
}

const numbers = (count: number, from = 0): number[] => Array.from({ length: count }, (_, at) => from + at)

test('consumers of one group share the messages in order; another group sees them all', async () => {
  const { push, seen } = stand()
  await push([1, 2, 3, 4])
  assert.deepEqual(await seen({ batch: 3 }), [1, 2, 3])
  assert.deepEqual(await seen({ batch: 3 }), [4])
  assert.deepEqual(await seen(), [])
  assert.deepEqual(await seen({ group: 'tail' }), [1, 2, 3, 4])
})

test('a message leaves when every group is past it, and its place is free again', async () => {
  const { push, pop, done, depth } = stand({ maxLength: 3 })
  await push([1, 2, 3])
  const [mine, theirs] = [await pop(), await pop({ group: 'tail' })]
  done(mine)
  assert.equal((await depth()).messages, 3)
  await assert.rejects(push([4]), { code: 'queue_full' })
  done(theirs, 'completed', 'tail')
  assert.deepEqual([(await depth()).messages, (await depth()).bytes], [0, 0])
  await push([4, 5, 6])
})

test('a lapsed lease and a failure bring a message again, counted, until its retries are used up', async () => {
  const { push, pop, done, advance, depth } = stand({ leaseSeconds: 10, retryLimit: 2 })
  await push([7])
  const attempts: number[] = []
  const [first] = await pop()
  attempts.push(first?.attempts ?? 0)
  assert.deepEqual(await pop(), [])
  advance(10_000)
  const [second] = await pop()
  attempts.push(second?.attempts ?? 0)
  assert.deepEqual(first && done([first]), ['stale'], 'the lease is another one by now')
  assert.deepEqual(second && done([second], 'failed'), ['redelivered'])
  const [third] = await pop()
  attempts.push(third?.attempts ?? 0)
  assert.deepEqual(third && done([third], 'failed'), ['acked'], 'given up')
  assert.deepEqual(attempts, [1, 2, 3])
  assert.deepEqual(await pop(), [])
  assert.deepEqual([(await depth()).messages, (await depth()).dropped], [0, 1])
})

test('what comes again comes before what is new, in the order of the ring', async () => {
  const { push, pop, done, seen } = stand()
  await push(numbers(6))
  const taken = await pop({ batch: 4 })
  assert.deepEqual(done([...taken].toReversed().slice(1), 'failed'), ['redelivered', 'redelivered', 'redelivered'])
  assert.deepEqual(await seen(), [0, 1, 2, 4, 5])
})

test('an answer that never went out costs no attempt', async () => {
  const { ephemeral, push, pop } = stand({ retryLimit: 0 })
  await push([1])
  for (let turn = 0; turn < 3; turn++) {
    const [message] = await pop()
    assert.equal(message?.attempts, 1)
    ephemeral.ack('q', 'g', [{ id: message?.id ?? '', status: 'undelivered' }])
  }
})

test('bounds refuse a push whole, or drop the oldest', async () => {
  const refusing = stand({ maxLength: 5 })
  await refusing.push([1, 2, 3])
  await assert.rejects(refusing.push([4, 5, 6]), { code: 'queue_full' })
  assert.deepEqual(await refusing.seen(), [1, 2, 3])

  const dropping = stand({ maxLength: 5, policy: 'dropOldest' })
  await dropping.push([1, 2], 'a')
  dropping.advance(1)
  await dropping.push([3, 4, 5], 'b')
  await dropping.push([6, 7, 8], 'c')
  const kept = await dropping.seen()
  assert.deepEqual(
    kept.toSorted((a, b) => a - b),
    [4, 5, 6, 7, 8],
  )
  await assert.rejects(dropping.push(numbers(6)), { code: 'queue_full' })
  assert.equal((await dropping.depth()).dropped, 3)
})

test('bytes are bounded too, and all queues of a broker together', async () => {
  const { ephemeral, push } = stand({ maxBytes: 1_000 })
  await assert.rejects(push(numbers(100)), { code: 'queue_full' })
  const big = '"'.concat('x'.repeat(8 * 1024 * 1024), '"')
  const filled = async (): Promise<void> => {
    for (let at = 0; at < 20; at++) await ephemeral.push(`other${at}`, 'p', [big])
  }
  await assert.rejects(filled(), { code: 'ephemeral_full' })
  assert.ok(ephemeral.bytes <= LIMITS.ephemeralBytes)
})

test('messages past their time are gone', async () => {
  const { push, seen, advance, depth } = stand({ ttlSeconds: 60 })
  await push([1])
  advance(59_000)
  await push([2])
  advance(1_500)
  assert.deepEqual(await seen(), [2])
  assert.equal((await depth()).dropped, 1)
})

test('a delivery that commits needs no ack and frees the place', async () => {
  const { push, seen, depth } = stand()
  await push([1, 2])
  assert.deepEqual(await seen({ commit: true }), [1, 2])
  assert.equal((await depth()).messages, 0)
})

test('a reset ends leases and contents; ids of before are stale, and nonsense is unknown', async () => {
  const { ephemeral, push, pop, done, seen } = stand()
  await push([1, 2])
  const taken = await pop({ batch: 1 })
  assert.equal(ephemeral.reset('q'), 2)
  assert.deepEqual(done(taken), ['stale'])
  await push([3])
  assert.deepEqual(await seen(), [3])
  assert.deepEqual(
    ephemeral.ack('q', 'g', [{ id: 'nonsense', status: 'completed' }]).map(({ outcome }) => outcome),
    ['unknown'],
  )
})

test('a waiting pop is answered by the next push, an aborted one takes nothing, a drain ends all of them', async () => {
  const { ephemeral, push, pop, seen } = stand()
  const gone = new AbortController()
  const aborted = ephemeral.pop(
    { queue: 'q', partition: null, group: 'g', batch: 1, waitMs: 60_000, commit: false },
    gone.signal,
  )
  await seen()
  const waiting = pop({ waitMs: 60_000, batch: 1 })
  await seen()
  assert.equal(ephemeral.waiting, 2)
  gone.abort()
  assert.deepEqual(await aborted, [])
  await push([1])
  assert.deepEqual(
    (await waiting).map(({ payload }) => payload),
    ['1'],
  )
  const last = pop({ waitMs: 60_000 })
  await seen({ group: 'x' })
  ephemeral.drain()
  assert.deepEqual(await last, [])
  assert.deepEqual(await pop({ waitMs: 60_000 }), [])
  assert.equal(ephemeral.waiting, 0)
})

test('a window lets a waiting pop gather until its count is there', async () => {
  const { push, pop, seen } = stand({ windowBuffer: { ms: 60_000, count: 3 } })
  const waiting = pop({ waitMs: 50_000 })
  await push([1])
  await push([2])
  await seen({ group: 'x', waitMs: 0 })
  await push([3, 4])
  assert.deepEqual(
    (await waiting).map(({ payload }) => Number(payload)),
    [1, 2, 3, 4],
  )
})

test('a group that nobody pops is forgotten and holds nothing any more', async () => {
  const { push, pop, done, advance, depth } = stand()
  await pop({ group: 'left' })
  await push([1])
  const taken = await pop()
  done(taken)
  assert.equal((await depth()).messages, 1)
  advance(LIMITS.ephemeralGroupIdleMs + 2_000)
  await push([2])
  assert.equal((await depth()).messages, 1)
  assert.deepEqual(
    (await depth()).groups.map(({ group }) => group),
    ['g'],
  )
})

test('every message of many groups and partitions is taken once per group, whatever the order of pushes, pops and failures', async () => {
  const { push, pop, done, advance } = stand({ leaseSeconds: 5, retryLimit: 1_000 })
  const seen = { a: new Map<string, number>(), b: new Map<string, number>() }
  let seed = 7
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below
  let pushed = 0
  await pop({ group: 'a' })
  await pop({ group: 'b' })
  for (let turn = 0; turn < 3_000; turn++) {
    const group = random(2) === 0 ? 'a' : 'b'
    if (turn < 2_000 && random(3) === 0) await push(numbers(1 + random(3), (pushed += 10)), `p${random(4)}`)
    const taken = await pop({ group, batch: 1 + random(5) })
    const kind = turn < 2_500 ? random(4) : 3
    if (kind === 0) advance(random(6_000))
    if (kind === 1) done(taken, 'failed', group)
    if (kind < 2) continue
    const outcomes = done(taken, 'completed', group)
    taken.forEach(({ partition, payload }, at) => {
      const key = `${partition}/${payload}`
      if (outcomes[at] === 'acked') seen[group].set(key, (seen[group].get(key) ?? 0) + 1)
    })
    if (turn > 2_500) advance(100)
  }
  assert.ok(seen.a.size > 500)
  assert.deepEqual([...seen.a.keys()].toSorted(), [...seen.b.keys()].toSorted())
  for (const counts of Object.values(seen)) assert.deepEqual([...new Set(counts.values())], [1])
})
