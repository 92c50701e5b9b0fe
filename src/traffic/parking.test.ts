import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PopOutcome } from '../operations/pop.ts'
import type { Delivery } from '../protocol/message.ts'
import type { PopWish } from '../protocol/pop-request.ts'
import { hintText, ringHint } from './hint-text.ts'
import { createParking } from './parking.ts'

const WISH: PopWish = {
  queue: 'q',
  partition: null,
  group: 'g',
  batch: 1,
  partitions: 1,
  leaseSeconds: null,
  autoAck: false,
  start: { mode: 'all' },
  conflation: false,
}

const message = (leaseId: string): Delivery => ({
  id: 'id',
  transactionId: 't',
  traceId: null,
  payload: '1',
  producerSub: null,
  createdAt: '',
  queue: 'q',
  partitionId: '1000000000001',
  partition: 'p',
  leaseId,
  consumerGroup: 'g',
  deliveryAttempt: 1,
  offset: 0,
})

interface Look {
  readonly leaseIds: readonly string[]
  readonly waitStaged: boolean
  readonly heldMs: number
  /** Answers with messages for the first `found` leases. */
  readonly answer: (found: number, more?: Partial<PopOutcome>) => void
  readonly fail: (error: Error) => void
}

function stand() {
  const looks: Look[] = []
  const handedBack: string[] = []
  const parking = createParking({
    look: (_, leaseIds, waitStaged, heldMs) =>
      new Promise((resolve, reject) => {
        looks.push({
          leaseIds,
          waitStaged,
          heldMs,
          answer: (found, more = {}) =>
            resolve({
              answers: leaseIds.map((leaseId, index) => (index < found ? [message(leaseId)] : [])),
              floor: null,
              again: 'no',
              conflation: false,
              dueInMs: null,
              ...more,
            }),
          fail: reject,
        })
      }),
    handBack: (leaseId) => handedBack.push(leaseId),
  })
  const pop = (waitMs: number) => {
    const outcome: { messages: readonly Delivery[] | null; error: unknown } = { messages: null, error: null }
    const ticket = parking.wait(
      WISH,
      waitMs,
      (messages) => (outcome.messages = messages),
      (error) => (outcome.error = error),
    )
    return { outcome, ticket }
  }
  const until = async (what: () => boolean): Promise<void> => {
    const deadline = Date.now() + 5_000
    while (!what()) {
      if (Date.now() > deadline) assert.fail(`never true: ${String(what)}`)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  }
  return { looks, handedBack, parking, pop, until }
}

test('one look serves all pops that ask the same', async () => {
  const { looks, pop, until } = stand()
  const pops = [pop(0), pop(0), pop(0)]
  await until(() => looks.length === 1)
  assert.equal(looks[0]?.leaseIds.length, 3)
  looks[0]?.answer(2)
  await until(() => pops.every(({ outcome }) => outcome.messages !== null))
  assert.deepEqual(
    pops.map(({ outcome }) => outcome.messages?.length),
    [1, 1, 0],
  )
})

test('a parked pop is looked for again when its queue is rung, and for nobody else', async () => {
  const { looks, parking, pop, until } = stand()
  const { outcome } = pop(20_000)
  await until(() => looks.length === 1)
  looks[0]?.answer(0)
  await until(() => parking.parked === 1)
  parking.ring('other')
  parking.ring('q', null, 'another group')
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(looks.length, 1)
  parking.ring('q', 'p', 'g')
  await until(() => looks.length === 2)
  looks[1]?.answer(1)
  await until(() => outcome.messages !== null)
  assert.equal(outcome.messages?.length, 1)
  assert.equal(parking.lots, 0)
})

test('a push to one partition wakes who waits for it or for any, and nobody who waits for another', async () => {
  const looked: (string | null)[] = []
  const parking = createParking({
    look: async (wish, leaseIds) => {
      looked.push(wish.partition)
      return { answers: leaseIds.map(() => []), floor: null, again: 'no', conflation: false, dueInMs: null }
    },
    handBack() {},
  })
  const tickets = ['a', 'b', null].map((partition) =>
    parking.wait(
      { ...WISH, partition },
      20_000,
      () => {},
      () => {},
    ),
  )
  const turns = async (): Promise<void> => {
    for (let i = 0; i < 6; i++) await new Promise((resolve) => setImmediate(resolve))
  }
  await turns()
  assert.deepEqual(new Set(looked), new Set(['a', 'b', null]))
  looked.length = 0
  parking.ring('q', 'a')
  await turns()
  assert.deepEqual(new Set(looked), new Set(['a', null]))
  looked.length = 0
  ringHint(parking, hintText('q', 'b'))
  await turns()
  assert.deepEqual(new Set(looked), new Set(['b', null]))
  looked.length = 0
  ringHint(parking, hintText('q', null))
  await turns()
  assert.deepEqual(new Set(looked), new Set(['a', 'b', null]))
  for (const ticket of tickets) ticket.cancel()
  assert.deepEqual([parking.lots, parking.waiting], [0, 0])
  parking.ring('q')
})

test('a missed bell costs one pause: a parked pop looks again by itself', async () => {
  const { looks, pop, until } = stand()
  pop(20_000)
  await until(() => looks.length === 1)
  looks[0]?.answer(0)
  await until(() => looks.length === 2)
  looks[1]?.answer(1)
})

test('a bell rung during a look is not lost', async () => {
  const { looks, parking, pop, until } = stand()
  pop(20_000)
  await until(() => looks.length === 1)
  parking.ring('q')
  looks[0]?.answer(0, { dueInMs: 60_000 })
  await until(() => looks.length === 2)
  looks[1]?.answer(1)
})

test('the database says when a lane becomes due and the look is made then', async () => {
  const { looks, pop, until } = stand()
  pop(20_000)
  // Empty looks make the pause grow; what becomes due does not wait for it.
  for (let empty = 0; empty < 4; empty++) {
    await until(() => looks.length === empty + 1)
    looks[empty]?.answer(0, { dueInMs: 60_000 })
  }
  await until(() => looks.length === 5)
  const before = performance.now()
  looks[4]?.answer(0, { dueInMs: 5 })
  await until(() => looks.length === 6)
  assert.ok(performance.now() - before < 600, 'long before the pause of 800 ms')
  looks[5]?.answer(1)
})

test('what a look brings for a client that has gone goes to the next pop, else back to the queue', async () => {
  const { looks, handedBack, pop, until } = stand()
  const gone = pop(20_000)
  await until(() => looks.length === 1)
  const next = pop(20_000)
  gone.ticket.cancel()
  await until(() => looks.length === 2)
  looks[0]?.answer(1)
  await until(() => next.outcome.messages !== null || handedBack.length > 0)
  looks[1]?.answer(1)
  await until(() => handedBack.length === 1 && next.outcome.messages !== null)
  assert.equal(gone.outcome.messages, null)
  const kept = next.outcome.messages?.[0]?.leaseId
  const leases = [looks[0]?.leaseIds[0], looks[1]?.leaseIds[0]]
  assert.deepEqual(new Set([kept, handedBack[0]]), new Set(leases))
})

test('a cancelled parked pop leaves nothing behind', async () => {
  const { looks, parking, pop, until } = stand()
  const { ticket } = pop(20_000)
  await until(() => looks.length === 1)
  looks[0]?.answer(0)
  await until(() => parking.parked === 1)
  ticket.cancel()
  assert.deepEqual([parking.parked, parking.waiting, parking.lots], [0, 0, 0])
})

test('a pop whose time is over is answered empty, also while a look is made for it', async () => {
  const { looks, parking, pop, until } = stand()
  const parked = pop(30)
  await until(() => looks.length === 1)
  looks[0]?.answer(0, { dueInMs: 10_000 })
  await until(() => parked.outcome.messages !== null)
  const looking = pop(20)
  await until(() => looks.length >= 2)
  await new Promise((resolve) => setTimeout(resolve, 30))
  looks.at(-1)?.answer(0)
  await until(() => looking.outcome.messages !== null)
  assert.deepEqual([parked.outcome.messages, looking.outcome.messages], [[], []])
  await until(() => parking.lots === 0)
})

test('staged messages that were held are looked for once more, waiting for them', async () => {
  const { looks, pop, until } = stand()
  const { outcome } = pop(0)
  await until(() => looks.length === 1)
  looks[0]?.answer(0, { again: 'staged' })
  await until(() => looks.length === 2)
  assert.equal(looks[1]?.waitStaged, true)
  looks[1]?.answer(0, { again: 'staged' })
  await until(() => outcome.messages !== null)
  assert.deepEqual(outcome.messages, [])
})

test('a fault is told to a pop that asks once and outlived by one that waits', async () => {
  const { looks, parking, pop, until } = stand()
  const waits = pop(20_000)
  await until(() => looks.length === 1)
  looks[0]?.answer(0)
  await until(() => looks.length === 2)
  looks[1]?.fail(new Error('down'))
  const asks = pop(0)
  await until(() => looks.length >= 3)
  for (const look of looks.slice(2)) look.fail(new Error('down'))
  await until(() => asks.outcome.error !== null)
  assert.equal(waits.outcome.error, null)
  parking.ring('q')
  await until(() => looks.length >= 4)
  for (const look of looks.slice(3)) look.answer(1)
  await until(() => waits.outcome.messages?.length === 1)
})

test('closing answers parked pops empty and takes no more', async () => {
  const { looks, parking, pop, until } = stand()
  const parked = pop(20_000)
  await until(() => looks.length === 1)
  looks[0]?.answer(0)
  await until(() => parking.parked === 1)
  parking.close()
  assert.deepEqual(parked.outcome.messages, [])
  assert.deepEqual(pop(20_000).outcome.messages, [])
  await parking.idle()
})

test('a pop that is held is looked for again when the hold is over, told for how long, whether it waits or not', async () => {
  const { looks, parking, pop, until } = stand()
  const pops = [pop(0), pop(20_000)]
  await until(() => looks.length === 1)
  assert.equal(looks[0]?.heldMs, 0)
  looks[0]?.answer(0, { again: 'held', dueInMs: 20 })
  await until(() => parking.parked === 2)
  assert.equal(
    pops.every(({ outcome }) => outcome.messages === null),
    true,
  )
  await until(() => looks.length === 2)
  assert.ok((looks[1]?.heldMs ?? 0) >= 19)
  looks[1]?.answer(1)
  await until(() => pops[0]?.outcome.messages !== null)
  assert.equal(pops[0]?.outcome.messages?.length, 1)
  parking.close()
})

test('what comes while a pop is held is looked at once, and the hold goes on from where it began', async () => {
  const { looks, parking, pop, until } = stand()
  const { outcome } = pop(0)
  await until(() => looks.length === 1)
  looks[0]?.answer(0, { again: 'held', dueInMs: 60_000 })
  await until(() => parking.parked === 1)
  await new Promise((resolve) => setTimeout(resolve, 5))
  parking.ring('q')
  await until(() => looks.length === 2)
  assert.ok((looks[1]?.heldMs ?? 0) >= 4)
  looks[1]?.answer(0)
  await until(() => outcome.messages !== null)
  assert.deepEqual(outcome.messages, [])
})

test('a pop whose time is over while it is held takes what there is', async () => {
  const { looks, pop, until } = stand()
  const { outcome } = pop(30)
  await until(() => looks.length === 1)
  looks[0]?.answer(0, { again: 'held', dueInMs: 60_000 })
  await until(() => looks.length === 2)
  assert.equal(looks[1]?.heldMs, Number.MAX_SAFE_INTEGER)
  looks[1]?.answer(1)
  await until(() => outcome.messages !== null)
  assert.equal(outcome.messages?.length, 1)
})

test('a pop that does not wait is not told of nothing while another process claims what is due, but not kept for ever', async () => {
  const { looks, pop, until } = stand()
  const served = pop(0)
  await until(() => looks.length === 1)
  looks[0]?.answer(0, { again: 'busy' })
  await until(() => looks.length === 2)
  looks[1]?.answer(1)
  await until(() => served.outcome.messages !== null)
  assert.equal(served.outcome.messages?.length, 1)
  const kept = pop(0)
  const answered = (): boolean => kept.outcome.messages !== null
  for (let seen = 2; !answered(); seen++) {
    await until(() => looks.length > seen || answered())
    looks[seen]?.answer(0, { again: 'busy' })
    assert.ok(seen < 20, 'as if it waited')
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.deepEqual(kept.outcome.messages, [])
})

test('a pop that goes, and a farewell, end also what was put off because another process claims', async () => {
  const { looks, parking, pop, until } = stand()
  const gone = pop(0)
  const stays = pop(0)
  await until(() => looks.length === 1)
  looks[0]?.answer(0, { again: 'busy' })
  await new Promise((resolve) => setImmediate(resolve))
  gone.ticket.cancel()
  parking.close()
  assert.deepEqual([gone.outcome.messages, stays.outcome.messages], [null, []])
  await parking.idle()
})
