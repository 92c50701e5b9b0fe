// A broker, or two, over a database of their own, and a way to call it as any client would: bytes in, status and text out.
import type { Untyped } from '../../src/client/untyped.ts'
import { request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { createBroker } from '../../src/broker/create-broker.ts'
import type { Broker, BrokerOptions } from '../../src/broker/create-broker.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import type { TestDatabase, TestEnd } from '../../src/testing/database.ts'
import { startSpreadBrokers } from '../kit/spread-brokers.ts'

export interface Reply {
  readonly status: number
  readonly text: string
  /** Parsed; undefined when the text is no JSON. */
  readonly json: Untyped
  readonly headers: IncomingHttpHeaders
}

export interface Served {
  readonly url: string
  readonly db: TestDatabase
  readonly send: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>
  readonly get: (path: string) => Promise<Reply>
  readonly post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Reply>
  /** Pushes payloads to a partition under ids of their own; answers the ids. */
  readonly push: (queue: string, payloads: readonly unknown[], partition?: string) => Promise<readonly string[]>
  /** Pops as a group from the beginning, without waiting. */
  readonly pop: (queue: string, query?: string) => Promise<Reply>
  readonly sql: (statement: string, ...values: unknown[]) => Promise<readonly Record<string, Untyped>[]>
}

/** Of one broker alone. */
export interface ServedAlone extends Served {
  readonly broker: Broker
}

let serial = 0

/** Milliseconds that a push and a pop take here and now: what must be quick is held against it on a busy machine. */
export async function paceOf({ push, pop }: Pick<Served, 'push' | 'pop'>): Promise<number> {
  const queue = `pace-${(serial += 1)}`
  const began = performance.now()
  await push(queue, ['there'])
  await pop(queue)
  return performance.now() - began
}

export async function serve(t: TestEnd, options: BrokerOptions = {}): Promise<ServedAlone> {
  const db = await createTestDatabase(t)
  const broker = createBroker({ connectionString: db.connectionString, port: 0, connections: 6, ...options })
  await broker.start()
  t.after(() => broker.stop())
  return { broker, ...(await callsTo(broker.address, db)) }
}

/** Two brokers on one database, each request sent to one of them at random: whatever does not live in a process must not tell. */
export async function serveSpread(t: TestEnd, options: BrokerOptions = {}): Promise<Served> {
  const db = await createTestDatabase(t)
  const brokers = await startSpreadBrokers({ connectionString: db.connectionString, connections: 4, ...options })
  t.after(() => brokers.stop())
  t.diagnostic(`replay: ${brokers.replay}`)
  return callsTo(brokers.address, db)
}

async function callsTo(url: string, db: TestDatabase): Promise<Served> {
  const client = await db.connect()

  async function send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply> {
    return exchange(url, method, path, body, headers)
  }
  return {
    url,
    db,
    send,
    get: (path) => send('GET', path),
    post: (path, body, headers) => send('POST', path, body, headers),
    async push(queue, payloads, partition) {
      const items = payloads.map((payload) => ({ queue, payload, partition, transactionId: `t-${(serial += 1)}` }))
      const { status, json } = await send('POST', '/api/v1/push', { items })
      if (status !== 201) throw new Error(`push answered ${status} ${JSON.stringify(json)}`)
      return items.map((item) => item.transactionId)
    },
    pop: (queue, query = '') =>
      send('GET', `/api/v1/pop/queue/${encodeURIComponent(queue)}?subscriptionMode=all&${query}`),
    async sql(statement, ...values) {
      return (await client.query(statement, values)).rows
    },
  }
}

/** Text and buffers travel as they are, other bodies as JSON. */
export function exchange(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const { hostname, port } = new URL(url)
  const raw =
    typeof body === 'string' || Buffer.isBuffer(body) ? body : body === undefined ? null : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const type: Record<string, string> = raw === null ? {} : { 'content-type': 'application/json' }
    const length: Record<string, string> = raw === null ? {} : { 'content-length': String(Buffer.byteLength(raw)) }
    const outgoing = request({
      hostname,
      port,
      method,
      path,
      headers: { ...type, ...length, ...headers },
      agent: false,
    })
    outgoing.on('error', reject)
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        resolve({ status: incoming.statusCode ?? 0, text, json: parsed(text), headers: incoming.headers })
      })
    })
    outgoing.end(raw ?? undefined)
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
