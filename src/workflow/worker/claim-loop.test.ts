import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClaimedNode } from '../../protocol/run.ts'
import { createClaimLoop, type ClaimLoop } from './claim-loop.ts'

interface Running {
  readonly node: ClaimedNode
  readonly free: () => void
  readonly end: () => void
}

const node = (n: number): ClaimedNode => ({
  runId: String(n),
  ordinal: 0,
  leaseId: 'L',
  name: 'job',
  want: 'job',
  attempt: 1,
  input: null,
  workflow: 'job',
  version: null,
  runInput: null,
  maxAttempts: 5,
  failures: 0,
  fresh: true,
  occurrence: null,
})

/** A loop that is given so many nodes at its first claim and runs each until the test ends it. */
function held(concurrency: number, count: number): { readonly loop: ClaimLoop<ClaimedNode>; readonly runs: Running[] } {
  const runs: Running[] = []
  let left = Array.from({ length: count }, (_, n) => node(n))
  const loop = createClaimLoop({
    concurrency,
    pollMs: 60_000,
    claim: async () => {
      const nodes = left
      left = []
      return { nodes, floor: null, dueInMs: null }
    },
    run: async (given, free) =>
      new Promise((resolve) => {
        runs.push({ node: given, free, end: resolve })
      }),
    onFault: (error) => {
      throw error
    },
  })
  return { loop, runs }
}

const turn = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test("a handler that has returned gives its place on before its end is written, and the loop's end waits for both", async () => {
  const { loop, runs } = held(1, 3)
  loop.start()
  await turn()
  assert.deepEqual([runs.length, loop.running], [1, 1])
  runs[0]?.free()
  runs[0]?.free()
  assert.deepEqual([runs.length, loop.running], [2, 1])
  runs[1]?.end()
  await turn()
  assert.deepEqual([runs.length, loop.running], [3, 1])
  runs[2]?.free()
  assert.equal(loop.running, 0)
  let idle = false
  const waiting = loop.idle().then(() => (idle = true))
  await turn()
  assert.equal(idle, false)
  runs[2]?.end()
  await turn()
  assert.equal(idle, false)
  runs[0]?.end()
  await waiting
  assert.deepEqual(await loop.stop(), [])
})

test('places are not given on while too many ends are on their way', async () => {
  const { loop, runs } = held(1, 2_500)
  loop.start()
  await turn()
  for (let at = 0; at < runs.length; at += 1) runs[at]?.free()
  assert.equal(runs.length, 2_001)
  runs[0]?.end()
  await turn()
  assert.equal(runs.length, 2_001, 'the place of the last one waits for its own end')
  runs.at(-1)?.end()
  await turn()
  assert.equal(runs.length, 2_002)
  for (let at = 0; at < runs.length; at += 1) {
    runs[at]?.end()
    await turn()
  }
  await loop.idle()
  assert.equal(runs.length, 2_500)
  await loop.stop()
})
