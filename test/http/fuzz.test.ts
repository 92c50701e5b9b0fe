// Whatever a client sends, the answer is never a 500, always JSON with its code, and the broker stays well.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ROUTES } from '../../src/broker/http/routes.ts'
import { utf8Length } from '../../src/protocol/utf8.ts'
import { exchange, serve } from './served.ts'

const NAMES = (
  'items queue partition payload data transactionId traceId requestId operations type kv op ns key keys value delta min max ' +
  'ttlSeconds forever expect required prefix limit after keysOnly acknowledgments partitionId status error leaseId offset ' +
  'consumerGroup requiredLeases timers runs options mode namespace task leaseTime seconds timestamp toEnd dryRun ' +
  '__proto__ constructor'
).split(' ')

const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    'q',
    'p',
    'push',
    'ack',
    'put',
    'get',
    'incr',
    'completed',
    'failed',
    'dlq',
    'a',
    '',
    '.',
    '\0',
  ),
  fc.constantFrom<unknown>('1000000000001', '\ud800', '2026-01-01T00:00:00Z', 'x'.repeat(600), null, true, false),
  fc.constantFrom<unknown>(0, -1, 1, 1.5, 1e15, 2 ** 53, -0, 1e300, 4_294_967_296, 2 ** 63),
  fc.string({ unit: 'binary', maxLength: 8 }),
)

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 6 }),
  ),
}))

/** Bodies near the right shapes, so that they get past the first check. */
const near = fc.oneof(
  value,
  fc.record({
    items: fc.array(fc.record({ queue: leaf, partition: leaf, transactionId: leaf, payload: value }), { maxLength: 3 }),
  }),
  fc.record({ transactionId: leaf, partitionId: leaf, leaseId: leaf, status: leaf, offset: leaf, consumerGroup: leaf }),
  fc.record({
    operations: fc.array(
      fc.record({
        type: leaf,
        op: leaf,
        ns: leaf,
        key: leaf,
        value,
        queue: leaf,
        partitionId: leaf,
        transactionId: leaf,
        forever: leaf,
      }),
      { maxLength: 3 },
    ),
    kv: value,
  }),
)

test('no body, query or path makes a 500', async (t) => {
  const { url, get } = await serve(t, { upkeep: false })
  const segment = fc.oneof(
    fc.constantFrom('q', 'a', '1000000000001', '%00', '%', '..', 'x'),
    fc.string({ unit: 'binary', maxLength: 6 }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...ROUTES),
      near,
      segment,
      fc.constantFrom(...NAMES),
      leaf,
      async (route, body, part, name, given) => {
        const name2 = utf8Length(part) >= 0 ? encodeURIComponent(part) : 'x'
        const path = route.path.replaceAll(/[:*][A-Za-z]+/g, part === '%' ? part : name2)
        const text = typeof given === 'string' && utf8Length(given) < 0 ? 'x' : String(given)
        const query = `?${name}=${encodeURIComponent(text)}&timeout=1&batch=${encodeURIComponent(text)}`
        const sent = route.method === 'GET' ? undefined : JSON.stringify(body)
        const { status, json, text: answer } = await exchange(url, route.method, `${path}${query}`, sent)
        assert.ok(status < 500, `${route.method} ${path}${query} ${sent}: ${status} ${answer}`)
        if (status >= 400) assert.equal(typeof json?.code, 'string', `${route.method} ${path}: ${status} ${answer}`)
      },
    ),
    { numRuns: 1_000 },
  )
  assert.equal((await get('/health')).status, 200)
})
