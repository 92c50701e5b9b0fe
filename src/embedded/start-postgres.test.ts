// What a started server is like, and what a person reads when it cannot start.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { Client } from 'pg'
import { LockstepError } from '../protocol/errors.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { processArguments } from './process-alive.ts'
import { pickPort } from './pick-port.ts'
import { lastPort, servesData } from './postmaster-file.ts'
import { type RunningPostgres, type StartPostgresOptions, startPostgres } from './start-postgres.ts'

const folder = temporaryFolder('start')
after(() => folder.remove())

async function ask(connectionString: string, statement: string): Promise<string> {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, string>>(statement)
    return Object.values(rows[0] ?? {}).join(' ')
  } finally {
    await client.end()
  }
}

async function withServer<T>(options: StartPostgresOptions, use: (server: RunningPostgres) => Promise<T>): Promise<T> {
  const server = await startPostgres(options)
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}

/** Rejects with our own error whose message matches, and never takes longer than the test's own limit. */
async function refused(options: StartPostgresOptions, message: RegExp): Promise<void> {
  await assert.rejects(startPostgres(options), (error) => {
    assert.ok(error instanceof LockstepError)
    assert.equal(error.code, 'embedded_failed')
    assert.match(error.message, message)
    assert.doesNotMatch(error.message, /undefined|\[object/)
    return true
  })
}

describe('a started server', () => {
  it('is durable, listens on 127.0.0.1 without a socket, orders by code point and asks for a scram password', async () => {
    process.env['LOCKSTEP_TEST_SECRET'] = 'not-for-children'
    const home = join(folder.path, 'plain')
    const lines: string[] = []
    const { pid, data } = await withServer({ home, onProgress: (line) => lines.push(line) }, async (server) => {
      const { connectionString: url } = server
      const setting = (name: string): Promise<string> => ask(url, `select current_setting('${name}')`)
      assert.equal(await setting('fsync'), 'on')
      assert.equal(await setting('full_page_writes'), 'on')
      assert.equal(await setting('synchronous_commit'), 'on')
      assert.equal(await setting('listen_addresses'), '127.0.0.1')
      assert.equal(await setting('unix_socket_directories'), '')
      assert.equal(await setting('max_connections'), '300')
      assert.equal(await setting('password_encryption'), 'scram-sha-256')
      assert.equal(await setting('timezone'), 'UTC')
      assert.equal(
        await ask(url, 'select pg_encoding_to_char(encoding) from pg_database where datname = current_database()'),
        'UTF8',
      )
      assert.equal(
        await ask(url, `select string_agg(c, '' order by c) from unnest(array['b','a','B','ä','_']) c`),
        'B_abä',
      )
      assert.equal(await ask(url, `select upper('ä')`), 'Ä')
      assert.equal(
        await ask(url, `select string_agg(distinct auth_method, ',') from pg_hba_file_rules`),
        'scram-sha-256',
      )
      assert.equal(await ask(url, 'select current_database()'), 'lockstep')
      assert.match(server.version, /^18\.\d/)

      const secret = readFileSync(join(home, 'postgres-password'), 'utf8')
      assert.equal(secret.length, 48)
      assert.equal(statSync(join(home, 'postgres-password')).mode & 0o777, 0o600)
      assert.ok(processArguments(server.pid).includes('-D'))
      assert.ok(!processArguments(server.pid).join(' ').includes(secret))
      if (process.platform === 'linux') {
        const environment = readFileSync(`/proc/${server.pid}/environ`, 'latin1')
        assert.match(environment, /PATH=/)
        assert.doesNotMatch(environment, /not-for-children/)
      }
      await assert.rejects(ask(url.replace(secret, 'guessed'), 'select 1'), /password authentication failed/)
      return { pid: server.pid, data: server.dataDir }
    })
    assert.equal(servesData(pid, data), false)
    assert.ok(lines.some((line) => line.includes(data)))
  })

  it('is not durable only when fast is asked for, and keeps the same data and password over runs', async () => {
    const home = join(folder.path, 'fast')
    const first = await withServer({ home, fast: true }, async (server) => {
      await ask(server.connectionString, 'create table kept as select 7 as n')
      return await ask(server.connectionString, `select current_setting('fsync')`)
    })
    assert.equal(first, 'off')
    const second = await withServer({ home }, async (server) => ({
      fsync: await ask(server.connectionString, `select current_setting('fsync')`),
      kept: await ask(server.connectionString, 'select n from kept'),
    }))
    assert.deepEqual(second, { fsync: 'on', kept: '7' })
  })

  it('takes the asked port, creates the asked database and can be stopped twice', async () => {
    const port = await freePort()
    const server = await startPostgres({ home: join(folder.path, 'named'), fast: true, port, database: 'a "b" c' })
    assert.equal(server.port, port)
    assert.equal(await ask(server.connectionString, 'select current_database()'), 'a "b" c')
    await Promise.all([server.stop(), server.stop()])
    await server.stop()
    assert.equal(servesData(server.pid, server.dataDir), false)
    // The next run asks for none and takes the same, unless another has it meanwhile.
    assert.equal(lastPort(server.dataDir), port)
    assert.equal(await pickPort(null, port), port)
    const holder = createServer().listen({ port, host: '127.0.0.1', exclusive: true })
    await once(holder, 'listening')
    assert.notEqual(await pickPort(null, lastPort(server.dataDir)), port)
    holder.close()
    assert.equal(lastPort(folder.path), null)
  })

  it('needs no temporary folder of the system', async () => {
    const before = process.env['TMPDIR']
    process.env['TMPDIR'] = join(folder.path, 'no', 'such', 'folder')
    try {
      assert.equal(tmpdir(), process.env['TMPDIR'])
      const home = join(folder.path, 'temporary')
      assert.equal(await withServer({ home, fast: true }, (server) => ask(server.connectionString, 'select 1')), '1')
    } finally {
      if (before === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = before
    }
  })
})

describe('a start that fails says why', () => {
  it('when the asked port is taken', async () => {
    const blocker = createServer().listen(0, '127.0.0.1')
    await new Promise((done) => blocker.once('listening', done))
    const address = blocker.address()
    assert.ok(typeof address === 'object' && address !== null)
    try {
      await refused(
        { home: join(folder.path, 'taken'), fast: true, port: address.port },
        new RegExp(`Port ${address.port} of 127.0.0.1 is taken.*Name another port`, 's'),
      )
    } finally {
      blocker.close()
    }
    // The refusal left nothing behind that a second try would trip over.
    assert.equal(await withServer({ home: join(folder.path, 'taken'), fast: true }, async () => 'started'), 'started')
  })

  it('when the port is no port', async () => {
    await refused({ home: join(folder.path, 'odd'), fast: true, port: 70_000 }, /Port 70000 is no port/)
  })

  it('when the folder lies below a file', async () => {
    writeFileSync(join(folder.path, 'file'), '')
    await refused({ home: join(folder.path, 'file', 'data') }, /cannot be used: a part of the path is a file/)
  })

  it('when a setting is refused, in the words of the server', async () => {
    const home = join(folder.path, 'settings')
    await refused(
      { home, fast: true, settings: { wal_level: 'nonsense' } },
      /did not start on port.*wal_level.*postgres\.log/s,
    )
  })

  it('when the data is of another version', async () => {
    const home = join(folder.path, 'version')
    await withServer({ home, fast: true }, async () => {})
    writeFileSync(join(home, 'data', 'PG_VERSION'), '13\n')
    await refused({ home, fast: true }, /made by PostgreSQL 13; the binaries here are 18\./)
  })

  it('when the password is lost or belongs to other data', async () => {
    const home = join(folder.path, 'password')
    await withServer({ home, fast: true }, async () => {})
    writeFileSync(join(home, 'postgres-password'), 'another')
    await refused({ home, fast: true }, /does not accept the password in .*postgres-password/)
    writeFileSync(join(home, 'postgres-password'), '')
    await refused({ home, fast: true }, /its password is lost/)
  })

  it('when the named binaries are not there', async () => {
    await refused({ home: join(folder.path, 'binaries'), binaries: folder.path }, /There is no PostgreSQL in/)
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  await new Promise((done) => server.close(done))
  return address.port
}
