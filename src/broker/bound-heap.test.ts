import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

// Objects that live long enough to make V8 want more room for young ones; prints the most that it took.
const CHURN = `
const { getHeapSpaceStatistics } = await import('node:v8')
const size = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size
let kept = []
let most = 0
for (let made = 0; made < 1_500_000; made += 1) {
  kept.push({ made, text: 'x' + made })
  if (kept.length > 60_000) kept = kept.slice(30_000)
  if (made % 5_000 === 0) {
    await new Promise((resolve) => setImmediate(resolve))
    most = Math.max(most, size())
  }
}
process.stdout.write(String(most))
`

async function mostYoungBytes(first: string): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', first + CHURN])
  return Number(stdout)
}

test('objects that die young are kept in 8 MiB, where V8 by itself takes several times that', async () => {
  const module = new URL('bound-heap.js', import.meta.url).href
  const bound = await mostYoungBytes(`const { boundHeap } = await import('${module}')\nboundHeap()\n`)
  const unbound = await mostYoungBytes('')
  assert.ok(bound <= 10 * 1024 * 1024, `${bound} bytes`)
  assert.ok(unbound > 16 * 1024 * 1024, `${unbound} bytes: then nothing needs to be bound`)
})
