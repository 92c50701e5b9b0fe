import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { createTestDatabase } from '../testing/database.ts'
import { fault, run } from '../testing/run-program.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { COMMANDS } from './commands.ts'

const folder = temporaryFolder('cli')
after(() => folder.remove())

describe('a command line that cannot be run ends with 2 and says what would be right', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['qeue list', /no command `qeue`.*lockstep queue/s],
    ['queue', /needs one more word.*lockstep queue push/s],
    ['queue psh orders', /no command `queue psh`.*lockstep queue push/s],
    ['queue pop', /needs <queue>/],
    ['queue pop orders extra', /does not know what to do with 'extra'/],
    ['queue pop orders --gruop x', /no option --gruop; did you mean --group\?/],
    ['queue pop orders --batch many', /--batch must be a whole number from 1 to 10000; got 'many'/],
    ['queue pop orders --batch 0', /--batch must be a whole number from 1/],
    ['queue pop orders --batch', /--batch needs a value: --batch N/],
    ['queue pop orders --batch 1 --batch 2', /--batch is given twice/],
    ['queue pop orders --ack=yes', /--ack takes no value/],
    ['queue pop orders --from yesterday', /--from must be one of all, new; got 'yesterday'/],
    ['queue pop orders --ack --keep', /give one of them/],
    ['queue push orders hello', /payload is not JSON.*'"hello"'/s],
    ['queue push orders', /payload is empty/],
    ['kv put orders o-1 1 --ttl 3y', /--ttl must be a whole number above zero with a unit/],
    ['kv put orders o-1 1', /one of --ttl and --forever/],
    ['kv put orders o-1 1 --ttl 30d --forever', /one of --ttl and --forever/],
    ['migrate --print --status', /--print stands alone/],
    ['serve --port 70000', /--port must be a whole number from 0 to 65535; got '70000'/],
    ['migrate', /DATABASE_URL is not set.*export DATABASE_URL=/s],
  ]
  for (const [line, message] of cases) {
    it(line, async () => {
      const ended = await run(line.split(' '))
      assert.match(ended.err, message)
      assert.deepEqual([ended.status, ended.out], [2, ''])
      assert.doesNotMatch(ended.err, /\n {4}at |undefined|\[object/)
    })
  }

  it('as JSON too', async () => {
    const ended = await run(['queue', 'pop', '--json'])
    assert.equal(ended.status, 2)
    assert.deepEqual(fault(ended).code, 'usage')
    assert.equal(fault(ended).hint, 'lockstep queue pop --help')
  })
})

describe('secrets', () => {
  it('url prints the connection string, and its password only when asked', async () => {
    const env = { DATABASE_URL: 'postgres://app:hunter2@127.0.0.1:1/app' }
    const plain = await run(['url'], { env })
    assert.deepEqual([plain.status, plain.out.trim()], [0, 'postgres://app:***@127.0.0.1:1/app'])
    assert.equal((await run(['url', '--password'], { env })).out.trim(), env.DATABASE_URL)
  })

  it('a connection string on the command line is refused and not repeated', async () => {
    const ended = await run(['migrate', 'postgres://app:hunter2@127.0.0.1/app'])
    assert.equal(ended.status, 2)
    assert.match(ended.err, /does not belong on the command line/)
    assert.doesNotMatch(ended.err, /hunter2/)
  })

  it('a database that cannot be reached is named without its password', async () => {
    const env = { DATABASE_URL: 'postgres://app:hunter2@127.0.0.1:1/app' }
    for (const words of [['migrate', '--status'], ['doctor'], ['queue', 'pop', 'q'], ['doctor', '--json']]) {
      const ended = await run(words, { env })
      assert.equal(ended.status, 1)
      assert.match(ended.err + ended.out, /ECONNREFUSED|cannot be reached/)
      assert.doesNotMatch(ended.err + ended.out, /hunter2/)
    }
  })

  it('the connection string may come from a file', async (t) => {
    const { connectionString } = await createTestDatabase(t)
    const file = join(folder.path, 'url')
    writeFileSync(file, `${connectionString}\n`)
    chmodSync(file, 0o600)
    const asked = await run(['migrate', '--status', '--database-file', file])
    assert.deepEqual([asked.status, asked.err], [0, ''])
    assert.equal((await run(['migrate', '--status'], { env: { DATABASE_URL_FILE: file } })).status, 0)
    const lost = await run(['migrate', '--status', '--database-file', `${file}.lost`])
    assert.match(lost.err, /cannot be read \(ENOENT\)/)
    assert.equal(lost.status, 2)
  })

  it('what is no connection string is refused without repeating it', async () => {
    const ended = await run(['doctor'], { env: { DATABASE_URL: 'host=localhost password=hunter2' } })
    assert.match(ended.err, /DATABASE_URL holds no connection string/)
    assert.doesNotMatch(ended.err, /hunter2/)
    assert.equal(ended.status, 2)
  })
})

describe('help', () => {
  it('lists every command, and each has its own with examples that parse', async () => {
    const all = await run(['--help'])
    assert.equal(all.status, 0)
    for (const command of COMMANDS) {
      assert.ok(all.out.includes(`  ${command.name}`), command.name)
      const own = await run([...command.name.split(' '), '--help'])
      assert.equal(own.status, 0)
      assert.match(own.out, new RegExp(`^usage: lockstep ${command.name}`))
      for (const example of command.examples) assert.ok(own.out.includes(example))
      assert.ok(own.out.split('\n').every((line) => line.length <= 110))
    }
    assert.match((await run(['--version'])).out, /^\d+\.\d+\.\d+\n$/)
  })

  it('has no colours in a pipe', async () => {
    assert.ok(!(await run(['--help'])).out.includes('\u001B'))
  })
})

it('`help queue push` is `queue push --help`', async () => {
  const [asked, known] = [await run(['help', 'queue', 'push']), await run(['queue', 'push', '--help'])]
  assert.deepEqual([asked.status, asked.out], [0, known.out])
  assert.equal((await run(['help'])).out, (await run(['--help'])).out)
})
