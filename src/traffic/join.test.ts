import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LockstepError } from '../protocol/errors.ts'
import { createJoiner } from './join.ts'
import type { JoinOptions } from './join.ts'

interface Held {
  readonly inputs: readonly string[]
  readonly answer: (outcomes: readonly string[]) => void
  readonly fail: (error: unknown) => void
}

/** A joiner whose calls are answered by hand. */
function held(options: Partial<JoinOptions<string, string>> = {}) {
  const calls: Held[] = []
  const joiner = createJoiner<string, string>({
    calls: 1,
    size: 100,
    weight: 1000,
    weightOf: () => 1,
    line: 1000,
    run: (inputs) => new Promise((answer, fail) => calls.push({ inputs, answer, fail })),
    ...options,
  })
  return { calls, joiner }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const echo = (call: Held | undefined): void => call?.answer(call.inputs.map((input) => `${input}!`))

test('a lone request fires at once, the next ones gather while it is in flight', async () => {
  const { calls, joiner } = held()
  const first = joiner.join('a')
  await turn()
  const rest = ['b', 'c', 'd'].map((input) => joiner.join(input))
  await turn()
  assert.deepEqual(
    calls.map((call) => call.inputs),
    [['a']],
  )
  echo(calls[0])
  assert.equal(await first, 'a!')
  echo(calls[1])
  assert.deepEqual(await Promise.all(rest), ['b!', 'c!', 'd!'])
  assert.deepEqual(joiner.counters, { calls: 2, inputs: 4, splits: 0 })
})

test('a whole call that waits goes beside those in flight, and what is less gathers on', async () => {
  const { calls, joiner } = held({ size: 3, wholeCalls: 2, most: 4 })
  const inputs = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
  const outcomes = [joiner.join('a')]
  await turn()
  outcomes.push(...inputs.slice(1, 3).map((input) => joiner.join(input)))
  await turn()
  assert.equal(calls.length, 1)
  outcomes.push(...inputs.slice(3).map((input) => joiner.join(input)))
  await turn()
  assert.deepEqual(
    calls.map((call) => call.inputs),
    [['a'], ['b', 'c', 'd']],
  )
  echo(calls[0])
  await turn()
  assert.deepEqual(calls[2]?.inputs, ['e', 'f', 'g'])
  echo(calls[1])
  await turn()
  assert.deepEqual(calls[3]?.inputs, ['h', 'i', 'j'])
  echo(calls[2])
  echo(calls[3])
  assert.deepEqual(
    await Promise.all(outcomes),
    inputs.map((input) => `${input}!`),
  )
})

test('a call that failed and changed nothing is split, and only the bad request fails', async () => {
  const joiner = createJoiner<string, string>({
    calls: 1,
    size: 100,
    weight: 1000,
    weightOf: () => 1,
    line: 1000,
    run: async (inputs) => {
      if (inputs.includes('bad')) throw new LockstepError('busy', 'a lock was not had in time')
      return inputs.map((input) => `${input}!`)
    },
  })
  const outcomes = await Promise.allSettled(['a', 'bad', 'c'].map((input) => joiner.join(input)))
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'failed')),
    ['a!', 'failed', 'c!'],
  )
})

test('an unknown outcome is never tried again: everybody in the call is told', async () => {
  const { calls, joiner } = held()
  const outcomes = Promise.allSettled([joiner.join('a'), joiner.join('b')])
  await turn()
  calls[0]?.fail(new LockstepError('outcome_unknown', 'lost'))
  assert.deepEqual(
    (await outcomes).map((outcome) => outcome.status),
    ['rejected', 'rejected'],
  )
  assert.equal(calls.length, 1)
})

test('requests that share a key never travel in one call, and keep their order', async () => {
  const { calls, joiner } = held({ keysOf: (input) => [input[0] ?? ''] })
  const all = ['a1', 'b1', 'a2', 'a3', 'b2', 'c1'].map((input) => joiner.join(input))
  for (const expected of [['a1', 'b1', 'c1'], ['a2', 'b2'], ['a3']]) {
    await turn()
    const call = calls.at(-1)
    assert.deepEqual(call?.inputs, expected)
    echo(call)
    await turn()
  }
  await Promise.all(all)
})

test('an answer of "again" is asked again', async () => {
  let asked = 0
  const joiner = createJoiner<string, string>({
    calls: 1,
    size: 9,
    weight: 9,
    weightOf: () => 1,
    line: 9,
    run: async (inputs) => inputs.map((input) => (input === 'slow' && asked++ < 2 ? 'again' : 'done')),
  })
  assert.deepEqual(await Promise.all([joiner.join('x'), joiner.join('slow')]), ['done', 'done'])
  assert.equal(asked, 3)
})

test('the line is bounded by weight', async () => {
  const { calls, joiner } = held({ line: 3 })
  const accepted = ['a', 'b', 'c'].map((input) => joiner.join(input))
  await assert.rejects(joiner.join('d'), { code: 'overloaded' })
  await turn()
  echo(calls[0])
  await Promise.all(accepted)
})

test('a call holds no more than its size and weight', async () => {
  const { calls, joiner } = held({ size: 2, calls: 9 })
  const all = ['a', 'b', 'c', 'd', 'e'].map((input) => joiner.join(input))
  await turn()
  assert.deepEqual(
    calls.map((call) => call.inputs),
    [['a', 'b'], ['c', 'd'], ['e']],
  )
  for (const call of calls) echo(call)
  await Promise.all(all)
  await joiner.idle()
})

test('a call that lasts makes room for another one, up to the most', async () => {
  const { calls, joiner } = held({ calls: 1, most: 2 })
  const stuck = joiner.join('stuck')
  await turn()
  const next = joiner.join('next')
  await turn()
  assert.equal(calls.length, 1)
  while (calls.length < 2) await turn()
  const third = joiner.join('third')
  await new Promise((resolve) => setTimeout(resolve, 150))
  assert.equal(calls.length, 2)
  echo(calls[1])
  assert.equal(await next, 'next!')
  echo(calls[2])
  assert.equal(await third, 'third!')
  echo(calls[0])
  assert.equal(await stuck, 'stuck!')
  await joiner.idle()
})
