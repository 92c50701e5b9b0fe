// The workflow step in JavaScript over plain HTTP, with nothing but Node's own `fetch`: acknowledge the event, move the order from
// the version that was read, push the next event, in one transaction. Checks itself and ends with a status other than 0 on any
// doubt.
//
//   LOCKSTEP_URL=http://localhost:6632 node workflow.mjs
const URL_OF_BROKER = process.env.LOCKSTEP_URL || 'http://localhost:6632'
// Names of this run's own, so that it says the same when it runs again.
const RUN = `${Date.now().toString(16)}${process.pid.toString(16)}`
const EVENTS = `javascript-order-events-${RUN}`
const SHIPPING = `javascript-shipping-${RUN}`
const GROUP = 'workflow'
const FIRST = `order-${RUN}-1`
const SECOND = `order-${RUN}-2`
const A_DAY = 86_400

let checks = 0
let readings = 0

function check(holds, fact) {
  if (!holds) throw new Error(`not so: ${fact}`)
  checks += 1
  console.log(`  ok: ${fact}`)
}

/** The parsed answer, or null for 204: nothing to deliver. Whatever the broker calls an error ends the program. */
async function call(method, path, body) {
  const response = await fetch(`${URL_OF_BROKER}/api/v1${path}`, {
    method,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(40_000),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === '' ? null : JSON.parse(text)
}

/** The step itself. `version` is the one the decision was made on; success is false when the order has moved. */
function commitStep(event, version, shippingId) {
  const { orderId } = event.data
  return call('POST', '/transaction', {
    operations: [
      {
        type: 'ack',
        transactionId: event.transactionId,
        partitionId: event.partitionId,
        leaseId: event.leaseId,
        consumerGroup: GROUP,
        status: 'completed',
      },
      {
        type: 'push',
        items: [{ queue: SHIPPING, partition: orderId, transactionId: shippingId, payload: { orderId } }],
      },
    ],
    requiredLeases: [event.leaseId],
    kv: [
      {
        op: 'put',
        ns: 'orders',
        key: orderId,
        value: { status: 'shipping' },
        ttlSeconds: A_DAY,
        expect: version,
        required: true,
      },
    ],
  })
}

async function handle(event) {
  const { orderId } = event.data
  const order = await readOrder(orderId)
  if (order.value.status !== 'paid') return (await ack(event)).success ? 'known' : 'refused'
  // The work of the step goes here: charge the card, book the courier.
  const result = await commitStep(event, order.version, `ship-${orderId}`)
  return result.success ? 'moved' : result.reason
}

async function ack({ transactionId, partitionId, leaseId }) {
  const [verdict] = await call('POST', '/ack', {
    transactionId,
    partitionId,
    leaseId,
    consumerGroup: GROUP,
    status: 'completed',
  })
  return verdict
}

async function readOrder(orderId) {
  const { results } = await call('POST', '/kv', { operations: [{ op: 'get', ns: 'orders', key: orderId }] })
  if (!results[0].found) throw new Error(`the order ${orderId} is not there`)
  return { value: results[0].value, version: results[0].version }
}

async function acceptOrder(orderId) {
  const put = {
    op: 'put',
    ns: 'orders',
    key: orderId,
    value: { status: 'paid' },
    ttlSeconds: A_DAY,
    expect: 0,
    required: true,
  }
  const { results } = await call('POST', '/kv', { operations: [put] })
  return results[0].version
}

const publish = (partition, orderId) =>
  call('POST', '/push', { items: [{ queue: EVENTS, partition, payload: { orderId } }] })

async function takeOne() {
  const query = new URLSearchParams({
    consumerGroup: GROUP,
    subscriptionMode: 'all',
    batch: '1',
    partitions: '1',
    wait: 'true',
    timeout: '20000',
  })
  const popped = await call('GET', `/pop/queue/${EVENTS}?${query}`)
  if (popped === null) throw new Error('an event was expected and none came')
  return popped.messages[0]
}

/** All of them, each time: a group that is new reads the queue from its start and takes nothing from anybody. */
async function shippingEvents() {
  readings += 1
  const query = new URLSearchParams({
    consumerGroup: `reader-${readings}`,
    subscriptionMode: 'all',
    batch: '100',
    partitions: '10',
  })
  const popped = await call('GET', `/pop/queue/${SHIPPING}?${query}`)
  return popped === null ? [] : popped.messages
}

async function oneStep() {
  const paid = await acceptOrder(FIRST)
  await publish(FIRST, FIRST)
  check((await handle(await takeOne())) === 'moved', 'the step moved the order')
  const order = await readOrder(FIRST)
  check(order.value.status === 'shipping' && order.version > paid, 'the order is shipping, at a later version')
  const shipped = await shippingEvents()
  check(shipped.length === 1 && shipped[0].transactionId === `ship-${FIRST}`, 'one shipping event was pushed')
  check(shipped[0].partition === FIRST, "it is in the order's own partition")
  return paid
}

async function redelivered() {
  const before = await readOrder(FIRST)
  await call('POST', `/consumer-groups/${GROUP}/queues/${EVENTS}/seek`, { timestamp: '2000-01-01T00:00:00Z' })
  check((await handle(await takeOne())) === 'known', 'the redelivered event was only acknowledged')
  check((await readOrder(FIRST)).version === before.version, 'it did not write the order again')
  check((await shippingEvents()).length === 1, 'it pushed nothing')
}

async function race() {
  await acceptOrder(SECOND)
  for (const desk of ['a', 'b']) await publish(`${SECOND}-${desk}`, SECOND)
  const events = [await takeOne(), await takeOne()]
  // Both have read the order before either commits.
  const { version } = await readOrder(SECOND)
  const results = await Promise.all(events.map((event) => commitStep(event, version, `ship-${SECOND}`)))
  check(results.filter(({ success }) => success).length === 1, 'of two workers with the same version one won')
  const lost = results.findIndex(({ success }) => !success)
  check(results[lost].reason === 'kv_precondition', 'the other was told that the order had moved')
  check((await handle(events[lost])) === 'known', 'its event was still its own to acknowledge')
  const ours = (await shippingEvents()).filter(({ data }) => data.orderId === SECOND)
  check(ours.length === 1, 'one shipping event came of the two')
}

async function oldVersion(paid) {
  const before = await readOrder(FIRST)
  await publish(FIRST, FIRST)
  const event = await takeOne()
  const result = await commitStep(event, paid, `ship-again-${FIRST}`)
  check(!result.success && result.reason === 'kv_precondition', 'the step from the old version was refused')
  const after = await readOrder(FIRST)
  check(after.version === before.version && after.value.status === 'shipping', 'it did not write the order')
  check((await shippingEvents()).length === 2, 'it pushed nothing')
  const verdict = await ack(event)
  check(verdict.success && verdict.noop === false, 'it acknowledged nothing')
}

try {
  const paid = await oneStep()
  await redelivered()
  await race()
  await oldVersion(paid)
  for (const name of [EVENTS, SHIPPING]) await call('DELETE', `/resources/queues/${name}`)
  console.log(`PASS: ${checks} checks`)
} catch (error) {
  const cause = error.cause === undefined ? '' : ` (${error.cause.message || error.cause.code})`
  console.error(`FAIL: ${error.message}${cause}`)
  process.exitCode = 1
}
