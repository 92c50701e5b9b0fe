// One case for each row of the limits table. The type demands it: a new row without its case does not compile. A bound that refuses
// has a probe, which says how it was refused, or null; the few that need a scene of their own name the test that has it;
// the rest are defaults, paces and sizes of memory, past which nothing is refused.
import { createAuthenticator } from '../../src/broker/auth/authenticator.ts'
import type { Authenticator } from '../../src/broker/auth/authenticator.ts'
import { createEphemeral } from '../../src/broker/ephemeral/create-ephemeral.ts'
import { bufferBounds } from '../../src/client/buffer/buffer-options.ts'
import { readKeyRing } from '../../src/db/vault/key-ring.ts'
import { LIMITS } from '../../src/protocol/limits.ts'
import { payloadFault } from '../../src/protocol/push-request.ts'
import { createAdmission } from '../../src/traffic/admission.ts'
import { createParking } from '../../src/traffic/parking.ts'
import { secretToken } from '../kit/tokens.ts'
import type { Reply, Served } from './served.ts'

/** The code of the refusal; null when it was accepted. */
export type Probe = (served: Served, n: number) => Promise<string | null>

export type LimitCase =
  | { readonly probe: Probe; readonly code: string; readonly isLeast?: true }
  | { readonly proved: string; readonly by: string }
  | { readonly refuses: 'nothing' }

const refusal = ({ status, json }: Reply): string | null =>
  status < 400 ? null : String(json?.reason ?? json?.code ?? status)

const codeOf = async (work: () => unknown): Promise<string | null> => {
  try {
    await work()
    return null
  } catch (error) {
    return String(Reflect.get(Object(error), 'code') ?? error)
  }
}

const x = (n: number): string => 'x'.repeat(n)
const times = <T>(n: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: n }, (_, index) => make(index))

const post = (path: string, body: (n: number) => unknown, code = 'bad_request'): LimitCase => ({
  code,
  probe: async ({ post: send }, n) => refusal(await send(path, body(n))),
})
const get = (path: (n: number) => string, code = 'bad_request'): LimitCase => ({
  code,
  probe: async ({ get: read }, n) => refusal(await read(path(n))),
})
const call = (work: (n: number) => unknown, code = 'bad_request'): LimitCase => ({
  code,
  probe: async (_, n) => codeOf(() => work(n)),
})
const proved = (file: string, by: string): LimitCase => ({ proved: file, by })
const refusesNothing: LimitCase = { refuses: 'nothing' }

const kv = (operation: (n: number) => object, code: string): LimitCase =>
  post('/api/v1/kv', (n) => ({ operations: [operation(n)] }), code)
const put = { op: 'put', ns: 'limits', value: 1, forever: true }
const step = (over: (n: number) => object): LimitCase => post('/api/v1/transaction', over)
const pushed = (over: (n: number) => object): LimitCase =>
  step((n) => ({ operations: [{ type: 'push', items: [{ queue: 'limits', payload: 1, ...over(n) }] }] }))
const ackOf = (over: object = {}): object => ({
  transactionId: 't',
  partitionId: '1000000000001',
  leaseId: 'none',
  ...over,
})
const timer = (over: (n: number) => object, code: string): LimitCase =>
  post(
    '/api/v1/timers',
    (n) => ({
      operations: [
        { op: 'schedule', queue: 'limits', timerKey: 'k', delayMs: 86_400_000, payload: 'MQ==', ...over(n) },
      ],
    }),
    code,
  )
/** Nothing is registered under the name: past the door it is told so. */
const UNKNOWN = 'nobody-registered-this'
const run = (over: (n: number) => object, code = 'bad_request'): LimitCase =>
  post('/api/v1/runs', (n) => ({ workflow: UNKNOWN, ...over(n) }), code)
const cycle = (over: (n: number) => object, code = 'bad_request'): LimitCase =>
  post(
    '/streams/v1/cycle',
    (n) => ({ query_id: '9', partition_id: '1000000000001', state_ops: [], push_items: [], ack: null, ...over(n) }),
    code,
  )
const ephemeral = (option: (n: number) => object): LimitCase =>
  post('/api/v1/ephemeral/configure', (n) => ({ queue: 'limits', options: option(n) }), 'ephemeral_bad_request')

const SECRET = 'thirty-two bytes that nobody knows'
const authenticator = (over: object = {}): Authenticator =>
  createAuthenticator({ secret: SECRET, ...over }, { onFault() {} })
const identify = async (token: string, says: RegExp): Promise<string | null> => {
  try {
    await authenticator().identify(`Bearer ${token}`)
    return null
  } catch (error) {
    return says.test(String(error)) ? 'unauthorized' : null
  }
}

async function parked(n: number): Promise<void> {
  const parking = createParking({ look: () => new Promise(() => {}), handBack() {} })
  const wish = {
    queue: 'q',
    partition: null,
    group: 'g',
    batch: 1,
    partitions: 1,
    leaseSeconds: null,
    autoAck: false,
    conflation: false,
  }
  for (let at = 0; at < n; at++)
    parking.wait(
      { ...wish, start: { mode: 'all' } },
      0,
      () => {},
      () => {},
    )
}

async function heard(n: number): Promise<void> {
  const parking = createParking({ look: () => new Promise(() => {}), handBack() {} })
  for (let at = 0; at < n; at++) parking.hear(new Set(['q']), () => {})
}

/** One more runs than waits. */
async function entered(n: number): Promise<void> {
  const admission = createAdmission(1, LIMITS.waitingCalls)
  let over: unknown = null
  for (let at = 0; at <= n; at++)
    admission.enter(0, () => new Promise(() => {})).catch((error: unknown) => (over = error))
  await new Promise((resolve) => setImmediate(resolve))
  if (over !== null) throw over
}

const memory = () => createEphemeral({ declared: async () => new Map() })
const pop = { queue: 'q', partition: null, batch: 1, waitMs: 0, commit: false }
const never = new AbortController().signal

export const LIMIT_CASES: Readonly<Record<keyof typeof LIMITS, LimitCase>> = {
  nameBytes: post('/api/v1/configure', (n) => ({ queue: x(n) }), 'name_too_long'),
  transactionIdBytes: pushed((n) => ({ transactionId: x(n) })),
  traceIdBytes: pushed((n) => ({ traceId: x(n) })),
  errorTextBytes: post('/api/v1/transaction', (n) => ({
    operations: [{ type: 'ack', ...ackOf({ status: 'failed', error: x(n) }) }],
  })),
  namespaceBytes: post('/api/v1/configure', (n) => ({ queue: 'limits', namespace: x(n) }), 'name_too_long'),
  requestIdBytes: post('/api/v1/transaction', (n) => ({ operations: [{ type: 'ack', ...ackOf() }], requestId: x(n) })),

  bodyBytes: proved('test/http/odd', 'a body is taken up to its limit'),
  inFlightBodyBytes: proved('test/http/odd', 'bodies being read are bounded all together'),
  inFlightAnswerBytes: proved('test/http/slow-readers', 'answers that nobody reads are bounded'),
  bodyValues: proved('src/protocol/json-slices', 'a body of very many values is refused before it is parsed'),
  headerBytes: proved('test/http/odd', 'half-sent headers do not hold others up, and large ones are refused'),
  jsonDepth: proved('src/protocol/json-slices', 'a payload deeper than the limit is its own fault'),
  payloadBytes: call((n) => {
    if (payloadFault({ text: x(n), fault: null }) !== null) throw Object.assign(new Error(), { code: 'bad_request' })
  }),

  // All but one are refused for themselves, so that little is stored.
  pushItems: post('/api/v1/push', (n) => ({
    items: times(n, (at) => ({ queue: 'limits', partition: at === 0 ? 'p' : '.', payload: 1 })),
  })),
  ackItems: post('/api/v1/ack/batch', (n) => ({ acknowledgments: times(n, () => ackOf()) })),
  transactionOperations: step((n) => ({ operations: times(n, () => ({ type: 'ack', ...ackOf() })) })),
  transactionKvOperations: post(
    '/api/v1/transaction',
    (n) => ({ kv: times(n, (at) => ({ op: 'get', ns: 'limits', key: `k${at}` })) }),
    'kv_too_many_ops',
  ),
  transactionKvKeys: post(
    '/api/v1/transaction',
    (n) => ({ kv: [{ op: 'getMany', ns: 'limits', keys: times(n, (at) => `k${at}`) }] }),
    'kv_too_many_keys',
  ),
  transactionsPerCall: refusesNothing,

  popBatch: get((n) => `/api/v1/pop/queue/limits?batch=${n}`),
  popBatchDefault: refusesNothing,
  popBytes: proved('test/http/pop', 'a pop brings eight megabytes at most'),
  popCallBytes: proved('test/http/pop', 'a pop brings eight megabytes at most'),
  popPartitions: get((n) => `/api/v1/pop/queue/limits?partitions=${n}`),
  popTimeoutMs: post('/api/v1/fetch', (n) => ({ entries: [], maxWaitMs: n, minBytes: 0 })),
  popTimeoutDefaultMs: refusesNothing,
  parkedPolls: call(parked, 'overloaded'),
  waitingCalls: call(entered, 'overloaded'),

  leaseSeconds: get((n) => `/api/v1/pop/queue/limits?leaseSeconds=${n}`),
  leaseSecondsConfiguredDefault: refusesNothing,
  extendSecondsDefault: refusesNothing,

  kvOperations: post(
    '/api/v1/kv',
    (n) => ({ operations: times(n, (at) => ({ op: 'get', ns: 'limits', key: `k${at}` })) }),
    'kv_too_many_ops',
  ),
  kvGetManyKeys: kv((n) => ({ op: 'getMany', ns: 'limits', keys: times(n, (at) => `k${at}`) }), 'kv_bad_keys'),
  kvValueBytes: kv((n) => ({ ...put, key: 'value', value: x(n - 2) }), 'kv_value_too_large'),
  kvKeyBytes: kv((n) => ({ ...put, key: x(n) }), 'kv_bad_key'),
  kvReadBytes: proved('test/http/kv', 'a read brings four megabytes at most'),
  kvPrefixLimit: proved('test/http/kv', 'a prefix brings a thousand keys at most'),
  kvPrefixLimitDefault: refusesNothing,
  ttlSeconds: kv((n) => ({ op: 'put', ns: 'limits', key: 'ttl', value: 1, ttlSeconds: n }), 'kv_bad_ttl'),

  timerOperations: post(
    '/api/v1/timers',
    (n) => ({ operations: times(n, (at) => ({ op: 'cancel', queue: 'limits', timerKey: `k${at}` })) }),
    'timers_too_many_ops',
  ),
  timerKeyBytes: timer((n) => ({ timerKey: x(n) }), 'timers_bad_key'),
  timerPayloadBytes: timer(
    (n) => ({ payload: Buffer.from(JSON.stringify(x(n - 2))).toString('base64') }),
    'timers_payload_too_large',
  ),
  timerHorizonMs: timer((n) => ({ delayMs: n }), 'timers_horizon'),

  lockOperations: post(
    '/api/v1/locks',
    (n) => ({ operations: times(n, (at) => ({ op: 'get', name: `l${at}` })) }),
    'locks_too_many_ops',
  ),
  lockNameBytes: post('/api/v1/locks', (n) => ({ operations: [{ op: 'get', name: x(n) }] }), 'locks_bad_name'),
  lockPermits: post(
    '/api/v1/locks',
    (n) => ({ operations: [{ op: 'acquire', name: 'limits', ttlSeconds: 1, limit: n }] }),
    'locks_bad_limit',
  ),

  requestIdSeconds: refusesNothing,
  placedPerVisit: proved('test/sql/delete-queue', 'LIMITS.placedPerVisit'),
  lockTimeoutMs: refusesNothing,
  statementTimeoutMs: refusesNothing,
  answerGraceMs: refusesNothing,
  connectTimeoutMs: refusesNothing,
  keepAliveMs: refusesNothing,
  poolConnections: refusesNothing,
  conflictAttempts: refusesNothing,
  conflictPauseMs: refusesNothing,
  notifyBytes: refusesNothing,
  notifyIntervalMs: refusesNothing,
  listenProofMs: refusesNothing,
  listenAnswerMs: refusesNothing,

  runValueBytes: run((n) => ({ input: x(n - 2) }), 'payload_too_large'),
  runsPerCall: post('/api/v1/runs', (n) => ({ runs: times(n, () => ({ workflow: UNKNOWN })) })),
  runKeyBytes: run((n) => ({ key: x(n) }), 'name_too_long'),
  runTags: run((n) => ({ tags: times(n, (at) => `t${at}`) })),
  runDelayMs: run((n) => ({ delayMs: n })),
  runAttempts: run((n) => ({ maxAttempts: n })),
  runPriority: run((n) => ({ priority: n })),
  graphNodes: proved('src/workflow/define/graph', 'a graph has a thousand nodes at most'),
  mapItems: proved('src/workflow/define/graph', 'a map has ten thousand items at most'),
  runWaitMs: get((n) => `/api/v1/runs/00000000-0000-7000-8000-000000000000/result?timeout=${n}`),
  previewSlots: post('/api/v1/schedules/preview', (n) => ({ cron: '* * * * *', count: n })),

  traceNames: post('/api/v1/traces', (n) => ({ ...ackOf(), data: 1, traceNames: times(n, (at) => `t${at}`) })),
  traceBytes: post('/api/v1/traces', (n) => ({ ...ackOf(), data: x(n - 2) }), 'payload_too_large'),

  streamStateOps: cycle((n) => ({ state_ops: times(n, (at) => ({ type: 'delete', key: `k${at}` })) })),
  streamStateKeyBytes: cycle((n) => ({ state_ops: [{ type: 'delete', key: x(n) }] })),
  streamStateValueBytes: cycle(
    (n) => ({ state_ops: [{ type: 'upsert', key: 'k', value: x(n - 2) }] }),
    'payload_too_large',
  ),
  streamStateBytes: proved('test/http/streams', 'state past what one answer holds is refused whole'),
  streamHashBytes: post('/streams/v1/queries', (n) => ({ name: `s${n}`, source_queue: 'limits', config_hash: x(n) })),
  streamClaims: post('/streams/v1/claim', (n) => ({
    query_id: '9',
    consumer_group: 'g',
    partition_ids: times(n, (at) => String(1_000_000_000_001 + at)),
  })),
  streamClaimSeconds: post('/streams/v1/claim', (n) => ({
    query_id: '9',
    consumer_group: 'g',
    partition_ids: [],
    lease_seconds: n,
  })),
  streamClaimSecondsDefault: refusesNothing,

  tokenBytes: call(async (n) => {
    const [header = '', payload = ''] = secretToken(SECRET, { role: 'admin' }).split('.')
    const token = `${header}.${payload}.`
    const code = await identify(token + x(n - token.length), /Bad token header/)
    if (code !== null) throw Object.assign(new Error(), { code })
  }, 'unauthorized'),
  subjectBytes: call(async (n) => {
    const code = await identify(secretToken(SECRET, { role: 'admin', sub: x(n) }), /Invalid token subject/)
    if (code !== null) throw Object.assign(new Error(), { code })
  }, 'unauthorized'),
  rememberedTokens: refusesNothing,
  secretBytesLeast: {
    code: 'bad_request',
    isLeast: true,
    probe: (_, n) => codeOf(() => authenticator({ secret: x(n) })),
  },
  secretFileBytes: proved('src/broker/secret-files', 'a file is read up to its limit'),
  tlsLookMs: refusesNothing,
  clockSkewSeconds: call((n) => authenticator({ clockSkewSeconds: n })),
  clockSkewSecondsDefault: refusesNothing,
  jwksBytes: proved('test/http/tokens', 'a set of published keys is taken up to its limits'),
  jwksKeys: proved('test/http/tokens', 'a set of published keys is taken up to its limits'),
  jwksTimeoutMs: refusesNothing,
  jwksFreshMs: refusesNothing,
  jwksCooldownMs: refusesNothing,
  jwksRetryMs: refusesNothing,
  jwksStaleMs: refusesNothing,

  ephemeralItems: post(
    '/api/v1/ephemeral/push',
    (n) => ({ queue: 'limits', messages: times(n, () => ({ payload: 1 })) }),
    'ephemeral_bad_request',
  ),
  ephemeralBytes: proved('src/broker/ephemeral/create-ephemeral', 'all queues of a broker together'),
  ephemeralQueues: call(async (n) => {
    const held = memory()
    for (let at = 0; at < n; at++) await held.push(`q${at}`, 'p', ['1'])
  }, 'ephemeral_full'),
  ephemeralPartitions: call(async (n) => {
    const held = memory()
    for (let at = 0; at < n; at++) await held.push('q', `p${at}`, ['1'])
  }, 'queue_full'),
  ephemeralGroups: call(async (n) => {
    const held = memory()
    await held.push('q', 'p', ['1'])
    for (let at = 0; at < n; at++) await held.pop({ ...pop, group: `g${at}` }, never)
  }, 'queue_full'),
  ephemeralQueueBytes: ephemeral((n) => ({ maxBytes: n })),
  ephemeralQueueBytesDefault: refusesNothing,
  ephemeralLength: ephemeral((n) => ({ maxLength: n })),
  ephemeralLengthDefault: refusesNothing,
  ephemeralLeaseSecondsDefault: refusesNothing,
  ephemeralRetryLimit: ephemeral((n) => ({ retryLimit: n })),
  ephemeralWindowMs: ephemeral((n) => ({ windowBuffer: { ms: n, count: 1 } })),
  ephemeralGroupIdleMs: refusesNothing,
  auditDays: refusesNothing,

  encryptionKeys: call((n) =>
    readKeyRing(times(n, (at) => `k${at}:${Buffer.alloc(32, at + 1).toString('base64')}`).join(',')),
  ),
  encryptionMemoryMs: refusesNothing,
  encryptionMemoryQueues: refusesNothing,

  bufferSize: call((n) => bufferBounds({ maxSize: n })),
  bufferMessagesDefault: refusesNothing,
  bufferBytes: call((n) => bufferBounds({ maxBytes: n })),
  bufferBytesDefault: refusesNothing,
  bufferWaiting: proved(
    'src/client/buffer/push-buffer',
    'pushes that nobody waits for are refused past their own bound',
  ),
  bufferBatchBytes: refusesNothing,
  bufferTimeMs: call((n) => bufferBounds({ timeMillis: n })),
  bufferTimeDefaultMs: refusesNothing,
  bufferRetryMs: call((n) => bufferBounds({ retryDelayMillis: n })),
  bufferRetryDefaultMs: refusesNothing,

  fetchEntries: post('/api/v1/fetch', (n) => ({ entries: times(n, () => ({ queue: 'nobody', offset: 0 })) })),
  fetchBytes: post('/api/v1/fetch', (n) => ({ entries: [], minBytes: n })),
  fetchBytesDefault: refusesNothing,
  fetchRecords: proved('test/http/fetch', 'LIMITS.fetchRecords'),
  parkedFetches: call(heard, 'overloaded'),
  changedEntries: post('/api/v1/partitions/changed', (n) => ({ entries: times(n, () => ({ queue: 'nobody' })) })),
  changedScan: refusesNothing,

  listLimit: get((n) => `/api/v1/dlq?limit=${n}`),
  listLimitDefault: refusesNothing,
  listBytes: proved('test/sql/find-messages', 'LIMITS.listBytes'),
}
