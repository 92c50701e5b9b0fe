import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { administer, createTestDatabase } from '../testing/database.ts'
import { lockstepOn, parsed, run } from '../testing/run-program.ts'

describe('migrate', () => {
  it('prints the script without a database', async () => {
    const ended = await run(['migrate', '--print'])
    assert.equal(ended.status, 0)
    assert.match(ended.out, /create table lockstep\.queue/)
  })

  it('tells what is pending with status 1, applies it once, and then has nothing to do', async (t) => {
    const lockstep = await lockstepOn(t, { migrated: false })
    const before = await lockstep('migrate', '--status', '--json')
    assert.equal(before.status, 1)
    assert.equal(parsed(before)['present'], false)
    const refused = await lockstep('queue', 'pop', 'orders')
    assert.equal(refused.status, 1)
    assert.match(refused.err, /no lockstep schema.*\n {4}lockstep migrate\n$/s)

    const applied = await lockstep('migrate')
    assert.equal(applied.status, 0)
    assert.match(applied.out, /up to date: applied \d+ migrations and the functions/)
    assert.match(applied.err, /applied 0001_/)
    assert.match((await lockstep('migrate')).out, /nothing was changed/)
    const status = await lockstep('migrate', '--status', '--json')
    assert.equal(status.status, 0)
    assert.equal(parsed(status)['fits'], true)
  })

  it('refuses to grant to a role that is not there', async (t) => {
    const ended = await (await lockstepOn(t))('migrate', '--grant', 'nobody_of_that_name')
    assert.equal(ended.status, 1)
    assert.match(ended.err, /role "nobody_of_that_name" does not exist/)
  })
})

describe('doctor', () => {
  it('names each check and finds a fresh database in order', async (t) => {
    const ended = await (await lockstepOn(t))('doctor', '--json')
    const { findings } = parsed(ended)
    assert.ok(Array.isArray(findings))
    const byName = new Map(
      findings.map((finding: { check: string; status: string }) => [finding.check, finding.status]),
    )
    for (const check of [
      'connection',
      'version',
      'encoding',
      'writable',
      'isolation',
      'autovacuum',
      'schema',
      'listen',
      'transactions',
      'clock',
      'staged',
      'timers',
      'workers',
    ]) {
      assert.equal(byName.get(check), 'ok', check)
    }
    // Test servers run without fsync, which is just what doctor is there to see.
    assert.equal(byName.get('durability'), 'fail')
    assert.equal(ended.status, 1)
    // Nobody but doctor is connected.
    assert.equal(byName.get('upkeep'), 'warn')
  })

  it('says that the schema is missing and how to make it', async (t) => {
    const ended = await (await lockstepOn(t, { migrated: false }))('doctor')
    assert.equal(ended.status, 1)
    assert.match(ended.out, /FAIL {2}schema .*there is no schema lockstep\n +try: lockstep migrate/)
  })

  it('warns of an isolation level that would refuse acks and of a read-only default', async (t) => {
    const { connectionString, name, connect } = await createTestDatabase(t)
    const client = await connect()
    await client.query(`alter database ${name} set default_transaction_isolation = 'serializable'`)
    await client.query(`alter database ${name} set default_transaction_read_only = on`)
    const ended = await run(['doctor'], { env: { DATABASE_URL: connectionString } })
    assert.match(ended.out, /warn {2}isolation .*serializable/)
    assert.match(ended.out, /warn {2}writable .*default_transaction_read_only is on/)
  })

  it('works for a role that has only what migrate --grant gives, and says what such a role cannot see', async (t) => {
    const { connectionString, connect } = await createTestDatabase(t)
    const client = await connect()
    const role = `doctor_${process.pid}`
    await client.query(`create role ${role} login password 'x'`)
    t.after(async () => {
      await administer((admin) => admin.query(`drop role ${role}`))
    })
    const granted = await run(['migrate', '--grant', role], { env: { DATABASE_URL: connectionString } })
    assert.equal(granted.status, 0, granted.err)
    const url = new URL(connectionString)
    url.username = role
    url.password = 'x'
    const ended = await run(['doctor'], { env: { DATABASE_URL: url.href } })
    assert.match(ended.out, /ok {4}schema/)
    assert.match(ended.out, /ok {4}staged .*nothing waits/)
    assert.match(ended.out, /ok {4}workers/)
    assert.doesNotMatch(ended.out, /permission denied/)
    assert.match(ended.out, /warn {2}transactions .*sees only its own/)
    await client.query(`drop owned by ${role}`)
  })

  it('tells of a transaction that has been open for long, by its process', async (t) => {
    const { connectionString, connect } = await createTestDatabase(t)
    const client = await connect()
    // The clock of tests: from here on it is an hour later than the transaction's start.
    await client.query(
      `create or replace function lockstep.clock() returns timestamptz language sql as $$ select clock_timestamp() + interval '1 hour' $$`,
    )
    await client.query('begin')
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const ended = await run(['doctor'], { env: { DATABASE_URL: connectionString } })
    assert.match(ended.out, new RegExp(`warn {2}transactions .*open for 36\\d\\d s \\(process ${rows[0]?.pid ?? 0}\\)`))
    assert.match(ended.out, /warn {2}clock .*differs by 36\d\d\.\d s/)
    await client.query('rollback')
  })

  it('counts staged messages that nobody places, and tells of timers that nobody fires', async (t) => {
    const { connectionString, connect } = await createTestDatabase(t)
    const client = await connect()
    await client.query(
      `insert into lockstep.staged (queue_name, partition_name, seq, id, transaction_id, payload)
       select 'q', 'p', n, gen_random_uuid(), n::text, '1' from generate_series(1, 1500) n`,
    )
    await client.query(`select lockstep.timer_schedule('q', 'k', '1', '0')`)
    await client.query(`update lockstep.timer set fire_at = fire_at - interval '2 minutes'`)
    const ended = await run(['doctor'], { env: { DATABASE_URL: connectionString } })
    assert.match(ended.out, /warn {2}staged .*1500 messages of 1 queues wait/)
    assert.match(ended.out, /warn {2}timers .*has been due for \d+ s/)
  })
})

describe('queue push and pop', () => {
  it('carries a payload unchanged, keeps order, and takes nothing until it is told to', async (t) => {
    const lockstep = await lockstepOn(t)
    const payload = '{"n":12345678901234567890,"s":"\\u0000"}'
    const pushed = parsed(
      await lockstep('queue', 'push', 'orders', payload, '--id', 'one', '--partition', 'acme', '--json'),
    )
    assert.ok(Array.isArray(pushed['messages']))
    assert.equal(pushed['messages'][0].status, 'queued')
    const repeated = await lockstep('queue', 'push', 'orders', '1', '--id', 'one', '--partition', 'acme')
    assert.equal(repeated.status, 0)
    assert.match(repeated.out, /duplicate, other payload/)

    for (const _ of [1, 2]) {
      const seen = await lockstep('queue', 'pop', 'orders', '--json')
      assert.equal(seen.status, 0)
      assert.ok(seen.out.includes(`"payload":${payload}`), seen.out)
      assert.match(seen.out, /"deliveryAttempt":1/)
    }
    assert.match((await lockstep('queue', 'pop', 'orders', '--ack')).out, /acme .*12345678901234567890/)
    const empty = await lockstep('queue', 'pop', 'orders')
    assert.equal(empty.status, 1)
    assert.match(empty.out, /No message of orders is to be had/)
  })

  it('pushes each line of the input, and names the line that is no JSON before anything is stored', async (t) => {
    const { connectionString } = await createTestDatabase(t)
    const env = { DATABASE_URL: connectionString }
    const wrong = await run(['queue', 'push', 'lines', '--lines'], { env, input: '1\n\n{"a"\n' })
    assert.equal(wrong.status, 2)
    assert.match(wrong.err, /line 3 is not JSON/)
    assert.equal((await run(['queue', 'pop', 'lines'], { env })).status, 1)
    assert.equal((await run(['queue', 'push', 'lines', '--lines'], { env, input: '1\n2\n3\n' })).status, 0)
    const { messages } = parsed(await run(['queue', 'pop', 'lines', '--group', 'g', '--keep', '--json'], { env }))
    assert.ok(Array.isArray(messages))
    assert.deepEqual(
      messages.map((message: { payload: number }) => message.payload),
      [1, 2, 3],
    )
    const leased = await run(['queue', 'pop', 'lines', '--group', 'g'], { env })
    assert.equal(leased.status, 1)
    assert.match(leased.out, /leased or delayed; the next is due in \d+ s/)
  })

  it('shows control characters of a message instead of obeying them', async (t) => {
    const lockstep = await lockstepOn(t)
    await lockstep('queue', 'push', 'orders', '1', '--id', 'a\u001B[2Jb')
    const { out } = await lockstep('queue', 'pop', 'orders')
    assert.match(out, /a\\u001b\[2Jb/)
  })
})

describe('kv', () => {
  it('puts, gets, lists and deletes, and answers a lost version with the winner', async (t) => {
    const lockstep = await lockstepOn(t)
    const absent = await lockstep('kv', 'get', 'orders', 'o-1', '--json')
    assert.deepEqual([absent.status, parsed(absent)['found'], parsed(absent)['version']], [1, false, 0])
    const put = parsed(
      await lockstep('kv', 'put', 'orders', 'o-1', '{"n":9007199254740993}', '--ttl', '30d', '--expect', '0', '--json'),
    )
    assert.equal(put['applied'], true)
    const lost = await lockstep('kv', 'put', 'orders', 'o-1', '2', '--forever', '--expect', '0')
    assert.equal(lost.status, 1)
    assert.match(lost.out, /Not written: o-1 in orders has version \d+, not 0\. Its value: \{"n":9007199254740993\}/)
    const got = await lockstep('kv', 'get', 'orders', 'o-1', '--json')
    assert.equal(got.status, 0)
    assert.ok(got.out.includes('"value":{"n":9007199254740993}'))
    await lockstep('kv', 'put', 'orders', 'o-2', '2', '--forever')
    const page = parsed(await lockstep('kv', 'list', 'orders', 'o-', '--limit', '1', '--json'))
    assert.deepEqual([page['truncated'], page['nextAfter']], [true, 'o-1'])
    assert.match(
      (await lockstep('kv', 'list', 'orders', 'o-', '--limit', '1')).out,
      /more: lockstep kv list orders o- --after o-1/,
    )
    assert.match((await lockstep('kv', 'list', 'orders', 'o-', '--after', 'o-1', '--values')).out, /o-2 +\d+ +never +2/)
    await lockstep('kv', 'put', 'orders', '!a b', '3', '--forever')
    await lockstep('kv', 'put', 'orders', '\u{10FFFF}', '4', '--forever')
    const all = parsed(await lockstep('kv', 'list', 'orders', '--json'))
    assert.deepEqual(Reflect.get(Object(all['keys']), 'length'), 4)
    assert.match(
      (await lockstep('kv', 'list', 'orders', '--limit', '1')).out,
      /!a b[^]*more: lockstep kv list orders --after '!a b' --limit 1/,
    )
    assert.match((await lockstep('kv', 'list', 'orders', '--after', 'o-2')).out, /\u{10FFFF}/u)
    assert.match((await lockstep('kv', 'list', 'none')).out, /There is no key in none\./)
    assert.equal((await lockstep('kv', 'list', 'No!')).status, 2)
    const stale = await lockstep('kv', 'delete', 'orders', 'o-1', '--expect', '999999')
    assert.equal(stale.status, 1)
    assert.match(stale.out, /Not deleted/)
    assert.equal((await lockstep('kv', 'delete', 'orders', 'o-1')).status, 0)
    assert.equal((await lockstep('kv', 'delete', 'orders', 'o-1')).status, 1)
  })

  it('refuses a name and a time that cannot be, with what would be right', async (t) => {
    const lockstep = await lockstepOn(t)
    const capital = await lockstep('kv', 'get', 'Orders', 'k')
    assert.equal(capital.status, 2)
    assert.match(capital.err, /^the namespace must be a namespace: a-z and 0-9 first/)
    assert.equal((await lockstep('kv', 'put', 'orders', 'k', '1', '--ttl', '3y')).status, 2)
    assert.match(
      (await lockstep('kv', 'put', 'orders', 'k', '1', '--ttl', '2w')).err,
      /--ttl must be a whole number above zero with a unit/,
    )
  })
})
