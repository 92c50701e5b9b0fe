// The program of the heartbeat's thread, with a connection of its own: renews what the main loop holds even while that loop is
// blocked, but only as long as it has ticked within `maxStallMs`, so that a hung process does not keep its claims for ever.
// Bundled with the driver into one text by tools/reference/heartbeat-source.ts; it may import nothing else of this package.
import { parentPort, workerData } from 'node:worker_threads'
import pg, { type Client, type ClientConfig } from 'pg'

export interface HeartbeatData {
  readonly connection: ClientConfig
  readonly statement: string
  readonly leaseMs: number
  readonly intervalMs: number
  readonly maxStallMs: number
}

/** Run, ordinal, token. */
export type BeatNode = readonly [runId: string, ordinal: number, leaseId: string]

/** `all`: what is held now, and a sign of life. `add`: claimed just now. A line each: run, ordinal, token, and since when the
 * lease holds, in milliseconds of the epoch. */
export type ToHeartbeat = { readonly all: string } | { readonly add: string } | { readonly stop: true }

export type FromHeartbeat =
  | { readonly ready: true }
  | { readonly beaten: readonly (readonly [node: BeatNode, held: boolean])[]; readonly at: number }
  | { readonly fault: string }
  /** The main loop has stood still for too long: its claims are let go. */
  | { readonly stalledMs: number }

const port = parentPort
// Given by startHeartbeatThread and nobody else.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const data = workerData as HeartbeatData
let held = ''
let added: string[] = []
let client: Client | null = null
let tickedAt = now()
let beating = false

/** The same clock as the main thread's. */
function now(): number {
  return performance.timeOrigin + performance.now()
}

function tell(message: FromHeartbeat): void {
  port?.postMessage(message)
}

/** What is younger ends before it needs a renewal, or is here at the next beat. */
function dueAt(at: number): readonly BeatNode[] {
  const nodes: BeatNode[] = []
  for (const text of [held, ...added]) {
    for (const line of text.split('\n')) {
      const [runId, ordinal, leaseId, since] = line.split(' ')
      if (runId === undefined || ordinal === undefined || leaseId === undefined || since === undefined) continue
      if (at - Number(since) >= data.intervalMs / 2) nodes.push([runId, Number(ordinal), leaseId])
    }
  }
  return nodes
}

async function connection(): Promise<Client> {
  if (client !== null) return client
  const fresh = new pg.Client(data.connection)
  fresh.on('error', () => {
    if (client === fresh) client = null
  })
  await fresh.connect()
  client = fresh
  return fresh
}

async function renew(nodes: readonly BeatNode[]): Promise<readonly { nth: number; held: boolean }[]> {
  const open = await connection()
  try {
    await open.query('begin isolation level read committed')
    const columns = [
      nodes.map(([runId]) => runId),
      nodes.map(([, ordinal]) => ordinal),
      nodes.map(([, , leaseId]) => leaseId),
    ]
    const { rows } = await open.query<{ nth: number; held: boolean }>(data.statement, [...columns, data.leaseMs])
    await open.query('commit')
    return rows
  } catch (error) {
    client = null
    open.end().catch(() => {})
    throw error
  }
}

async function beat(): Promise<void> {
  const at = now()
  if (at - tickedAt > data.maxStallMs) {
    if (held !== '' || added.length > 0) tell({ stalledMs: at - tickedAt })
    held = ''
    added = []
    return
  }
  const due = dueAt(at)
  if (due.length === 0) return
  const rows = await renew(due)
  tell({
    at,
    beaten: rows.flatMap((row) => {
      const node = due[row.nth - 1]
      return node === undefined ? [] : [[node, row.held] as const]
    }),
  })
}

const timer = setInterval(() => {
  if (beating) return
  beating = true
  beat()
    .catch((error: unknown) => tell({ fault: error instanceof Error ? error.message : String(error) }))
    .finally(() => {
      beating = false
    })
}, data.intervalMs)

port?.on('message', (message: ToHeartbeat) => {
  if ('add' in message) added.push(message.add)
  else if ('all' in message) {
    tickedAt = now()
    held = message.all
    added = []
  } else {
    clearInterval(timer)
    port.close()
    client?.end().catch(() => {})
  }
})

// Before the first claim: a lease may be shorter than the making of a connection.
connection()
  .catch((error: unknown) => tell({ fault: error instanceof Error ? error.message : String(error) }))
  .finally(() => tell({ ready: true }))
