// The workflow step in each language, as a reader runs it, against a real broker: every program has to state each of its facts, and
// each has to end with a failure when the broker breaks the promise that the step rests on.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createBroker } from 'lockstep/broker'
import { packageRoot } from '../../src/db/sql-files.ts'
import { reportAbsence } from '../../src/testing/absence.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { LANGUAGE_NAMES, prepareLanguage } from '../../tools/tests/prepare-language.ts'

const folder = join(packageRoot(), 'examples', 'languages')
/** What each program states, in this order and in these words. */
const FACTS = [
  'the step moved the order',
  'the order is shipping, at a later version',
  'one shipping event was pushed',
  "it is in the order's own partition",
  'the redelivered event was only acknowledged',
  'it did not write the order again',
  'it pushed nothing',
  'of two workers with the same version one won',
  'the other was told that the order had moved',
  'its event was still its own to acknowledge',
  'one shipping event came of the two',
  'the step from the old version was refused',
  'it did not write the order',
  'it pushed nothing',
  'it acknowledged nothing',
]

interface Ended {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

async function run(words: readonly string[], url: string, env = process.env): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { env: { ...env, LOCKSTEP_URL: url }, timeout: 120_000 }
    execFile('/bin/bash', [join(folder, 'run.sh'), ...words], options, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ status, stdout, stderr })
    })
  })
}

async function startBroker(t: TestContext): Promise<string> {
  const { connectionString } = await createTestDatabase(t)
  const broker = createBroker({ connectionString, port: 0 })
  await broker.start()
  t.after(async () => broker.stop())
  return broker.address
}

/** A broker that takes a step whatever the state has become: the expectation is lost on the way to it. */
async function startForgetful(t: TestContext, broker: string): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    forward(incoming, outgoing, broker).catch((error: unknown) =>
      outgoing.destroy(error instanceof Error ? error : undefined),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  return `http://127.0.0.1:${address.port}`
}

async function forward(incoming: IncomingMessage, outgoing: ServerResponse, broker: string): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
  const text = Buffer.concat(chunks).toString()
  const forgets = incoming.url === '/api/v1/transaction'
  const body = Buffer.from(forgets ? text.replaceAll(/"(expect|required)":/g, '"_$1":') : text)
  const { 'transfer-encoding': _chunked, ...headers } = incoming.headers
  const sent = request(new URL(incoming.url ?? '/', broker), {
    method: incoming.method,
    headers: { ...headers, host: new URL(broker).host, 'content-length': body.length },
  })
  sent.end(body)
  const [answer]: IncomingMessage[] = await once(sent, 'response')
  assert.ok(answer !== undefined)
  outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
  answer.pipe(outgoing)
}

test('the examples are those that are tested', () => {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  assert.deepEqual(folders.map(({ name }) => name).toSorted(), LANGUAGE_NAMES)
})

test('the workflow step keeps its promises in every language', async (t) => {
  const broker = await startBroker(t)
  const forgetful = await startForgetful(t, broker)
  for (const language of LANGUAGE_NAMES) {
    await t.test(language, async (each) => {
      const absent = await prepareLanguage(packageRoot(), language)
      if (absent !== null) return reportAbsence(each, absent)
      const { status, stdout, stderr } = await run([language], broker)
      assert.equal(status, 0, `${stdout}${stderr}`)
      const said = stdout.split('\n').flatMap((line) => /^ {2}ok: (.*)$/.exec(line)?.[1] ?? [])
      assert.deepEqual(said, FACTS)
      assert.match(stdout, new RegExp(`^PASS: ${FACTS.length} checks$`, 'm'))
      const betrayed = await run([language], forgetful)
      assert.equal(betrayed.status, 1, `${betrayed.stdout}${betrayed.stderr}`)
      assert.match(betrayed.stderr, /^FAIL: \S/m)
      assert.doesNotMatch(betrayed.stdout, /PASS/)
      return undefined
    })
  }
})

test('without a broker a program says so and fails', async (t) => {
  const absent = await prepareLanguage(packageRoot(), 'javascript')
  if (absent !== null) return reportAbsence(t, absent)
  const { status, stderr } = await run(['javascript'], 'http://127.0.0.1:9')
  assert.equal(status, 1)
  assert.match(stderr, /^FAIL: \S/m)
  return undefined
})

test('a language that is not there is refused by name', async () => {
  const { status, stderr } = await run(['cobol'], 'http://127.0.0.1:9')
  assert.equal(status, 2)
  assert.match(stderr, /unknown language: cobol/)
})

test('what is missing for a language is told by name, and is no failure', async () => {
  const { status, stderr } = await run(['go', 'rust'], 'http://127.0.0.1:9', { PATH: '/nowhere' })
  assert.equal(status, 3)
  assert.deepEqual(stderr.trim().split('\n'), ['not run: go: go is missing', 'not run: rust: cargo is missing'])
})
