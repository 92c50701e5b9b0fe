import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { Client } from 'pg'
import { createTestDatabase } from '../testing/database.ts'
import { blockedPort, freePort, ready, run } from '../testing/run-program.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

const folder = temporaryFolder('serving')
after(() => folder.remove())

describe('serve', () => {
  it('serves until SIGTERM, then ends with 0', async (t) => {
    const { connectionString } = await createTestDatabase(t)
    const { address, stop } = await ready(t, ['serve', '--port', '0'], { env: { DATABASE_URL: connectionString } })
    const health = await fetch(`${address}/health`)
    assert.equal(health.status, 200)
    await health.text()
    assert.equal((await stop()).status, 0)
  })

  it('refuses a taken port and a database without the schema', async (t) => {
    const { connectionString } = await createTestDatabase(t)
    const port = await blockedPort(t)
    const taken = await run(['serve', '--port', String(port)], { env: { DATABASE_URL: connectionString } })
    assert.equal(taken.status, 1)
    assert.match(taken.err, new RegExp(`Port ${port} of 127.0.0.1 is taken.*lockstep serve --port ${port + 1}`, 's'))
    const bare = await createTestDatabase(t, { migrated: false })
    const missing = await run(['serve', '--port', '0'], { env: { DATABASE_URL: bare.connectionString } })
    assert.equal(missing.status, 1)
    assert.match(missing.err, /lockstep migrate/)
  })
})

describe('dev', () => {
  it('starts a database and a broker that the other commands find, keeps the data, and stops both', async (t) => {
    const cwd = join(folder.path, 'dev')
    mkdirSync(cwd)
    const first = await ready(t, ['dev', '--port', String(await freePort())], { cwd })
    assert.equal((await fetch(`${first.address}/health`)).status, 200)
    assert.equal((await run(['queue', 'push', 'hello', '1'], { cwd })).status, 0)
    const shown = await run(['url'], { cwd })
    assert.match(shown.out, /^postgres:\/\/postgres:\*\*\*@127\.0\.0\.1:\d+\/lockstep\n$/)
    const own = new Client({ connectionString: (await run(['url', '--password'], { cwd })).out.trim() })
    await own.connect()
    assert.deepEqual((await own.query('select name from lockstep.queue')).rows, [{ name: 'hello' }])
    await own.end()
    const second = await run(['dev'], { cwd })
    assert.equal(second.status, 1)
    assert.match(second.err, /in use by another running process \(\d+\)/)
    assert.equal((await first.stop()).status, 0)
    assert.match((await run(['queue', 'pop', 'hello'], { cwd })).err, /no `lockstep dev` runs in this folder/)

    const again = await ready(t, ['dev', '--port', String(await freePort())], { cwd })
    assert.equal((await run(['queue', 'pop', 'hello'], { cwd })).status, 0)
    assert.equal((await again.stop()).status, 0)
  })

  it('says that its PostgreSQL was killed and ends with 1; the next start has the data', async (t) => {
    const cwd = join(folder.path, 'killed')
    mkdirSync(cwd)
    const first = await ready(t, ['dev', '--port', String(await freePort())], { cwd })
    await run(['queue', 'push', 'hello', '1'], { cwd })
    const pid = Number(readFileSync(join(cwd, '.lockstep', 'data', 'postmaster.pid'), 'utf8').split('\n')[0])
    process.kill(pid, 'SIGKILL')
    const ended = await first.ended
    assert.equal(ended.status, 1)
    const { code, message, hint } = JSON.parse(ended.err.trim().split('\n').at(-1) ?? '').error
    assert.equal(code, 'unavailable')
    assert.match(message, new RegExp(`PostgreSQL \\(process ${pid}\\) has ended without being told to.*postgres\\.log`))
    assert.match(hint, /^lockstep dev /)
    const again = await ready(t, ['dev', '--port', String(await freePort())], { cwd })
    assert.equal((await run(['queue', 'pop', 'hello'], { cwd })).status, 0)
    assert.equal((await again.stop()).status, 0)
  })

  it('refuses an asked port that is taken and stops its database again', async (t) => {
    const port = await blockedPort(t)
    const ended = await run(['dev', '--data', 'taken', '--port', String(port)], { cwd: folder.path })
    assert.equal(ended.status, 1)
    assert.equal(existsSync(join(folder.path, 'taken', 'data', 'postmaster.pid')), false)
    assert.match(ended.err, new RegExp(`Port ${port} of 127.0.0.1 is taken.*lockstep dev --port ${port + 1}`, 's'))
  })
})
