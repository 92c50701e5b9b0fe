import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

const file = new URL('watch-interrupt.js', import.meta.url).href
/** Says when it listens, tells each abort, and ends by itself only when nobody ends it. */
const SCRIPT = `
  import { watchInterrupt } from ${JSON.stringify(file)}
  const { signal } = watchInterrupt()
  signal.addEventListener('abort', () => console.log('aborted'))
  process.on('exit', (status) => console.log('exit', status))
  setTimeout(() => {}, 30_000)
  console.log('ready')`

async function signalled(pausesMs: readonly number[]): Promise<{ output: string; status: number | null }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const closed = new Promise<number | null>((done) => child.once('close', done))
  await new Promise((done) => child.stdout.once('data', done))
  for (const ms of pausesMs) {
    child.kill('SIGINT')
    await pause(ms)
  }
  const alive = child.exitCode === null && child.signalCode === null
  if (alive) child.kill('SIGKILL')
  return { output, status: alive ? null : await closed }
}

it('the same Ctrl-C arriving twice is one asking', async () => {
  const { output, status } = await signalled([100, 300])
  assert.deepEqual([output, status], ['ready\naborted\n', null])
})

it('asking again after a moment ends the process through its exit handlers', async () => {
  const { output, status } = await signalled([1_500, 2_000])
  assert.deepEqual([output, status], ['ready\naborted\nexit 130\n', 130])
})
