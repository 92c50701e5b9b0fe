// What happens to the server, the lock file and the owner's mark of a run that was killed, and to a second run beside a first.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { endServer } from './end-server.ts'
import { processAlive } from './process-alive.ts'
import { readPostmasterFile, servesData } from './postmaster-file.ts'
import { startPostgres } from './start-postgres.ts'

const folder = temporaryFolder('leftover')
after(() => folder.remove())

/** Starts a server in a process of its own, which then ends in the given way; resolves with the server's process id. */
async function runAndEnd(home: string, end: string): Promise<number> {
  const entry = new URL('start-postgres.js', import.meta.url)
  const script = `
    import { startPostgres } from ${JSON.stringify(entry.href)}
    const server = await startPostgres({ home: ${JSON.stringify(home)}, fast: true })
    process.stdout.write(String(server.pid), () => { ${end} })
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  await new Promise((done) => child.once('close', done))
  return Number(output)
}

const KILLED = `process.kill(process.pid, 'SIGKILL')`

async function startAgain(home: string): Promise<{ pid: number; adopted: boolean; lines: string[] }> {
  const lines: string[] = []
  const server = await startPostgres({ home, fast: true, onProgress: (line) => lines.push(line) })
  await server.stop()
  assert.equal(servesData(server.pid, server.dataDir), false)
  return { pid: server.pid, adopted: server.adopted, lines }
}

it('a server that a killed run left is taken over and can then be stopped', async () => {
  const home = join(folder.path, 'adopted')
  const left = await runAndEnd(home, KILLED)
  assert.ok(servesData(left, join(home, 'data')))
  const again = await startAgain(home)
  assert.deepEqual({ pid: again.pid, adopted: again.adopted }, { pid: left, adopted: true })
  assert.match(again.lines.join('\n'), /taking over the PostgreSQL that an earlier run left/)
})

it('a server that a killed run left with other settings is replaced', async () => {
  const home = join(folder.path, 'settings')
  const left = await runAndEnd(home, KILLED)
  const lines: string[] = []
  const settings = { work_mem: '5MB' }
  const server = await startPostgres({ home, fast: true, settings, onProgress: (line) => lines.push(line) })
  await server.stop()
  assert.notEqual(server.pid, left)
  assert.equal(servesData(left, server.dataDir), false)
  assert.match(lines.join('\n'), /other settings were asked for/)
})

it('a server does not outlive a process that ends by an uncaught error', async () => {
  const home = join(folder.path, 'uncaught')
  const left = await runAndEnd(home, `setImmediate(() => { throw new Error('uncaught') })`)
  assert.ok(left > 0)
  const until = Date.now() + 20_000
  while (servesData(left, join(home, 'data')) && Date.now() < until) await new Promise((done) => setTimeout(done, 20))
  assert.equal(servesData(left, join(home, 'data')), false)
})

it('a server of ours that does not answer is stopped and another one started', async () => {
  const home = join(folder.path, 'halted')
  const left = await runAndEnd(home, KILLED)
  process.kill(left, 'SIGSTOP')
  const again = await startAgain(home)
  assert.equal(again.adopted, false)
  assert.notEqual(again.pid, left)
  assert.equal(servesData(left, join(home, 'data')), false)
  assert.match(again.lines.join('\n'), /it does not answer/)
})

it('a server and its run killed together leave data that the next start recovers', async () => {
  const home = join(folder.path, 'both')
  const left = await runAndEnd(home, KILLED)
  await endServer(left, join(home, 'data'), [{ signal: 'SIGKILL', waitMs: 5_000 }])
  assert.equal(readPostmasterFile(join(home, 'data'))?.pid, left)
  const again = await startAgain(home)
  assert.equal(again.adopted, false)
  assert.match(again.lines.join('\n'), /recovers/)
})

it('a stale lock file whose process id now belongs to another program stops nothing and nobody', async () => {
  const home = join(folder.path, 'reused')
  await startAgain(home)
  const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  const pid = bystander.pid
  assert.ok(pid !== undefined)
  try {
    const data = join(home, 'data')
    writeFileSync(join(data, 'postmaster.pid'), `${pid}\n${data}\n1700000000\n5432\n\n127.0.0.1\n\nready\n`)
    const again = await startAgain(home)
    assert.equal(again.adopted, false)
    assert.ok(processAlive(pid))
  } finally {
    bystander.kill('SIGKILL')
  }
})

it('a folder in use by a running process is refused with its process id, and its server left alone', async () => {
  const home = join(folder.path, 'shared')
  const first = await startPostgres({ home, fast: true })
  try {
    const owner = join(home, 'owner')
    const mine = readFileSync(owner, 'utf8')
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    const pid = other.pid
    assert.ok(pid !== undefined)
    const { processBirth } = await import('./process-alive.ts')
    writeFileSync(owner, `${pid} ${processBirth(pid)}`)
    try {
      await assert.rejects(startPostgres({ home, fast: true }), (error) => {
        assert.ok(error instanceof Error)
        assert.match(error.message, new RegExp(`in use by another running process \\(${pid}\\)`))
        return true
      })
      assert.ok(servesData(first.pid, first.dataDir))
    } finally {
      other.kill('SIGKILL')
      writeFileSync(owner, mine)
    }
  } finally {
    await first.stop()
  }
})
