// The order workflow keeps its promises over both transports, and the program of `npm start` runs it from nothing.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Lockstep } from 'lockstep'
import { createBroker } from 'lockstep/broker'
import { checkFacts } from '../../examples/order-workflow/check-facts.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { temporaryFolder } from '../../src/testing/temporary-folder.ts'

const FACTS = 14

const folder = temporaryFolder('order-workflow')
after(() => folder.remove())

it('every fact holds through the broker', async (t) => {
  const { connectionString } = await createTestDatabase(t)
  const broker = createBroker({ connectionString, port: 0 })
  await broker.start()
  const lockstep = new Lockstep({ url: broker.address })
  const facts: string[] = []
  try {
    await checkFacts(lockstep, 'http', (fact) => facts.push(fact))
  } finally {
    await lockstep.close()
    await broker.stop()
  }
  assert.equal(facts.length, FACTS)
})

it('every fact holds straight to PostgreSQL', async (t) => {
  const { connectionString, connect } = await createTestDatabase(t)
  const lockstep = new Lockstep({ connectionString })
  const facts: string[] = []
  try {
    await checkFacts(lockstep, 'postgres', (fact) => facts.push(fact))
  } finally {
    await lockstep.close()
  }
  assert.equal(facts.length, FACTS)
  const left = await (await connect()).query('select name from lockstep.list_queues()')
  assert.deepEqual(left.rows, [], 'it leaves nothing behind')
})

interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

async function start(...words: string[]): Promise<Ended> {
  const program = fileURLToPath(new URL('../../examples/order-workflow/main.js', import.meta.url))
  const child = spawn(process.execPath, [program, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  const status = await new Promise<number | null>((done) => child.once('close', done))
  return { status, out, err }
}

it('the program starts everything, verifies it twice over the same data, takes a free port, and ends with 0', async () => {
  // Whether or not somebody else holds the usual port, from here on somebody does.
  const blocker = createServer()
  blocker.on('error', () => {})
  await new Promise((done) => blocker.listen(6632, '127.0.0.1', () => done(null)).once('error', done))
  try {
    for (const _ of [1, 2]) {
      const { status, out, err } = await start('--once', '--data', join(folder.path, 'home'))
      assert.equal(status, 0, err)
      assert.equal(out.match(/^✓ /gm)?.length, FACTS)
      assert.match(out, new RegExp(`${FACTS} facts verified`))
      assert.match(err, /port 6632 is taken by another program: taking a free one/)
    }
  } finally {
    blocker.close()
  }
})

it('the program says what is wrong with its words', async () => {
  const wrong = await start('--port', 'many')
  assert.deepEqual([wrong.status, wrong.out], [2, ''])
  assert.match(wrong.err, /--port must be a whole number from 1 to 65535; got 'many'/)
  assert.equal((await start('--twice')).status, 2)
})
