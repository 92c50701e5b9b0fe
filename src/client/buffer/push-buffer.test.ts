// The buffer over a way that answers by script: what it sends when, that it never holds more than its bounds, and what each push
// hears.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LockstepError } from '../../protocol/errors.ts'
import type { PushResult } from '../../protocol/message.ts'
import type { OutgoingItem, StagedItem } from '../transport.ts'
import { bufferBounds, type BufferOptions } from './buffer-options.ts'
import { createPushBuffer, type PushBuffer } from './push-buffer.ts'

interface Call {
  readonly items: readonly OutgoingItem[]
  /** Answers it; without a verdict all are queued. */
  readonly answer: (verdict?: Partial<PushResult> | LockstepError) => Promise<void>
}

interface Rig {
  readonly buffer: PushBuffer
  /** The next call, when it has come. */
  readonly call: () => Promise<Call>
  readonly calls: () => number
  readonly warnings: string[]
}

const LATER = new LockstepError('unavailable', 'no way')

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

function rig(options: BufferOptions): Rig {
  const calls: Call[] = []
  const wanted: ((call: Call) => void)[] = []
  const warnings: string[] = []
  let count = 0
  const send = async (sent: readonly OutgoingItem[]): Promise<readonly PushResult[]> =>
    new Promise((resolve, reject) => {
      count += 1
      const call: Call = {
        items: sent,
        async answer(verdict = {}) {
          if (verdict instanceof LockstepError) reject(verdict)
          else
            resolve(
              sent.map(({ transactionId }, at) => ({
                status: 'queued',
                messageId: `m-${transactionId}`,
                transactionId,
                offset: at,
                conflict: false,
                error: null,
                ...verdict,
              })),
            )
          await turn()
        },
      }
      const next = wanted.shift()
      if (next === undefined) calls.push(call)
      else next(call)
    })
  return {
    buffer: createPushBuffer(
      { queue: 'q', send, log: { warn: (_, message) => warnings.push(message) } },
      bufferBounds(options),
    ),
    call: async () => {
      const known = calls.shift()
      return known ?? new Promise((resolve) => wanted.push(resolve))
    },
    calls: () => count,
    warnings,
  }
}

function items(...ids: readonly string[]): () => Promise<readonly StagedItem[]> {
  return async () =>
    ids.map((id) => ({ queue: 'q', partition: 'p', transactionId: id, payload: `"${id}"`, traceId: null }))
}

const idsOf = ({ items: sent }: Call): readonly string[] => sent.map((item) => item.transactionId)
const LONG = 60_000

test('full is sent at once, less after its time, and one batch at a time in the order of the pushes', async () => {
  const { buffer, call, calls } = rig({ messageCount: 3, timeMillis: 20, maxSize: 10 })
  const pushed = ['a', 'b', 'c', 'd'].map((id) => buffer.push(items(id)))
  const first = await call()
  assert.deepEqual(idsOf(first), ['a', 'b', 'c'])
  await turn()
  assert.equal(calls(), 1, 'the second waits for the first')
  await first.answer()
  const second = await call()
  assert.deepEqual(idsOf(second), ['d'])
  await second.answer()
  const verdicts = (await Promise.all(pushed)).flat()
  assert.deepEqual(
    verdicts.map((verdict) => verdict.transactionId),
    ['a', 'b', 'c', 'd'],
  )
  const alone = buffer.push(items('e'))
  assert.deepEqual(idsOf(await call().then(async (sent) => (await sent.answer(), sent))), ['e'])
  assert.equal((await alone)[0]?.status, 'queued')
  assert.deepEqual(buffer.status(), { messages: 0, bytes: 0, waiting: 0 })
})

test('past its bounds a push waits for room and nothing more is held', async () => {
  const { buffer, call } = rig({ messageCount: 2, timeMillis: LONG, maxSize: 4 })
  const taken: string[] = []
  const pushes = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => {
    const push = buffer.push(items(id))
    void push.taken.then(() => taken.push(id))
    return push
  })
  const first = await call()
  await turn()
  assert.deepEqual(taken, ['a', 'b', 'c', 'd'])
  assert.equal(buffer.status().messages, 4, 'what is on its way counts')
  assert.equal(buffer.status().waiting, 3)
  await first.answer()
  assert.deepEqual(taken, ['a', 'b', 'c', 'd', 'e', 'f'])
  await (await call()).answer()
  await (await call()).answer()
  const flushed = buffer.flush()
  await (await call()).answer()
  await flushed
  await Promise.all(pushes)
})

test('one push of more than there is room for goes in piece by piece; bytes bound as well as the count', async () => {
  const wide = rig({ messageCount: 2, timeMillis: LONG, maxSize: 2 })
  const push = wide.buffer.push(items('a', 'b', 'c'))
  const first = await wide.call()
  assert.equal(wide.buffer.status().messages, 2)
  await first.answer()
  const flushed = wide.buffer.flush()
  await (await wide.call()).answer()
  await flushed
  assert.equal((await push).length, 3)

  const heavy = rig({ messageCount: 10, timeMillis: LONG, maxBytes: 250 })
  const two = [heavy.buffer.push(items('a')), heavy.buffer.push(items('b')), heavy.buffer.push(items('c'))]
  const sent = await heavy.call()
  assert.deepEqual(idsOf(sent), ['a', 'b'], 'no room for the third, so what is there goes')
  assert.ok(heavy.buffer.status().bytes <= 250)
  await sent.answer()
  const rest = heavy.buffer.flush()
  await (await heavy.call()).answer()
  await rest
  await Promise.all(two)
  await assert.rejects(heavy.buffer.push(items('x'.repeat(300))), { code: 'payload_too_large' })
})

test('what could not be sent comes again with the same ids, and a duplicate of our own is what it is', async () => {
  const { buffer, call, warnings } = rig({ messageCount: 2, timeMillis: LONG, retryDelayMillis: 1 })
  const push = buffer.push(async () => [
    { queue: 'q', partition: 'p', transactionId: null, payload: '1', traceId: null },
    { queue: 'q', partition: 'p', transactionId: 'mine', payload: '2', traceId: null },
  ])
  const first = await call()
  await first.answer(LATER)
  const second = await call()
  await second.answer(new LockstepError('outcome_unknown', 'lost'))
  const third = await call()
  assert.deepEqual([idsOf(second), idsOf(third)], [idsOf(first), idsOf(first)])
  await third.answer({ status: 'duplicate' })
  assert.deepEqual(
    (await push).map((verdict) => verdict.status),
    ['queued', 'duplicate'],
  )
  assert.equal(warnings.length, 2)
})

test('a fault that would come again fails its batch alone: its pushes, the flush and the logger are told', async () => {
  const { buffer, call, warnings } = rig({ messageCount: 2, timeMillis: LONG })
  const bad = [buffer.push(items('a')), buffer.push(items('b'))]
  const good = buffer.push(items('c'))
  await good.taken
  const flushed = assert.rejects(buffer.flush(), { code: 'forbidden' })
  await (await call()).answer(new LockstepError('forbidden', 'not you'))
  await (await call()).answer({ status: 'error', error: 'queue_full' })
  await flushed
  for (const push of bad) await assert.rejects(push, { code: 'forbidden' })
  assert.deepEqual(await good, [{ status: 'rejected', reason: 'queue_full', transactionId: 'c' }])
  assert.deepEqual(warnings, ['buffered messages could not be pushed', 'buffered messages were refused'])
  await buffer.flush()
})

test('pushes keep their order although one takes longer to prepare; one that cannot be prepared costs no other', async () => {
  const { buffer, call } = rig({ messageCount: 3, timeMillis: LONG })
  let prepared: () => void = () => {}
  const slow = new Promise<void>((resolve) => {
    prepared = resolve
  })
  const pushes = [
    buffer.push(async () => slow.then(items('a'))),
    buffer.push(items('b')),
    buffer.push(async () => {
      throw new LockstepError('invalid_payload', 'no')
    }),
    buffer.push(items('c')),
  ]
  const [, , bad] = pushes
  await assert.rejects(bad ?? Promise.resolve(), { code: 'invalid_payload' })
  await assert.rejects(bad?.taken ?? Promise.resolve(), { code: 'invalid_payload' })
  prepared()
  const sent = await call()
  assert.deepEqual(idsOf(sent), ['a', 'b', 'c'])
  await sent.answer()
})

test('a close sends what is left; past its time the rest is given up and told', async () => {
  const calm = rig({ timeMillis: LONG })
  const push = calm.buffer.push(items('a'))
  const closing = calm.buffer.close(LONG)
  await (await calm.call()).answer()
  await closing
  assert.equal((await push)[0]?.status, 'queued')
  await assert.rejects(calm.buffer.push(items('b')), { code: 'closed' })

  const { buffer, call, warnings } = rig({ messageCount: 1, timeMillis: LONG, maxSize: 2 })
  const [onWay, held, waiting] = ['a', 'b', 'c'].map((id) => buffer.push(items(id)))
  await call()
  await buffer.close(10)
  await assert.rejects(onWay ?? Promise.resolve(), { code: 'outcome_unknown' })
  await assert.rejects(held ?? Promise.resolve(), { code: 'closed' })
  await assert.rejects(waiting ?? Promise.resolve(), { code: 'closed' })
  await assert.rejects(waiting?.taken ?? Promise.resolve(), { code: 'closed' })
  assert.deepEqual(warnings, ['a client was closed with buffered messages that could not be pushed'])
})

test('pushes that nobody waits for are refused past their own bound', async () => {
  const { buffer } = rig({ messageCount: 1, timeMillis: LONG, maxSize: 1 })
  const pushes = Array.from({ length: 10_002 }, (_, at) => buffer.push(items(String(at))))
  await assert.rejects(pushes.at(-1) ?? Promise.resolve(), { code: 'overloaded' })
  assert.equal(buffer.status().waiting, 10_000)
  await buffer.close(0)
})

test('wrong bounds are refused by name', () => {
  const wrong: readonly (readonly [options: object, field: string])[] = [
    [{ messageCount: 0 }, 'messageCount'],
    [{ messageCount: 10_001 }, 'messageCount'],
    [{ timeMillis: -1 }, 'timeMillis'],
    [{ messageCount: 10, maxSize: 9 }, 'maxSize'],
    [{ maxBytes: 1.5 }, 'maxBytes'],
    [{ messageCounts: 3 }, 'messageCounts'],
  ]
  for (const [options, field] of wrong) {
    assert.throws(() => bufferBounds(options), { code: 'bad_request', details: { field } })
  }
  assert.equal(bufferBounds({ messageCount: 1_000 }).maxSize, 4_000)
})

/** What becomes of one call: it is answered, or it fails before or after it was stored. */
const FATES = ['answered', 'lost before', 'lost after'] as const

test('whatever fails on the way, each message is stored once and in order, within the bounds', async () => {
  const bounds = fc.record({ messageCount: fc.integer({ min: 1, max: 5 }), room: fc.integer({ min: 0, max: 5 }) })
  const pushes = fc.array(fc.integer({ min: 0, max: 7 }), { minLength: 1, maxLength: 20 })
  const fates = fc.array(fc.constantFrom(...FATES), { maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(bounds, pushes, fates, fc.boolean(), async ({ messageCount, room }, sizes, script, patient) => {
      const maxSize = messageCount + room
      const stored = new Map<string, string>()
      const left = [...script]
      let sending = 0
      const send = async (sent: readonly OutgoingItem[]): Promise<readonly PushResult[]> => {
        assert.equal((sending += 1), 1)
        assert.ok(sent.length <= messageCount && buffer.status().messages <= maxSize)
        const fate = left.shift() ?? 'answered'
        await turn()
        sending -= 1
        if (fate === 'lost before') throw LATER
        const results = sent.map(({ transactionId, payload }) => {
          const status = stored.has(transactionId) ? ('duplicate' as const) : ('queued' as const)
          stored.set(transactionId, payload)
          return { status, messageId: transactionId, transactionId, offset: 0, conflict: false, error: null }
        })
        if (fate === 'lost after') throw LATER
        return results
      }
      const buffer = createPushBuffer(
        { queue: 'q', send, log: { warn() {} } },
        bufferBounds({ messageCount, maxSize, timeMillis: 1, retryDelayMillis: 1 }),
      )
      let next = 0
      const verdicts = []
      for (const size of sizes) {
        const staged = Array.from({ length: size }, () => ({
          queue: 'q',
          partition: 'p',
          transactionId: null,
          payload: String((next += 1)),
          traceId: null,
        }))
        const push = buffer.push(async () => staged)
        verdicts.push(push)
        if (patient) await push.taken
      }
      await buffer.close(LONG)
      const seen = (await Promise.all(verdicts)).flat()
      assert.deepEqual(
        [...stored.values()],
        Array.from({ length: next }, (_, at) => String(at + 1)),
      )
      assert.ok(seen.length === next && seen.every(({ status }) => status === 'queued'))
    }),
    { numRuns: 60 },
  )
})
