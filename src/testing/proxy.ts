// A TCP proxy that understands the framing of PostgreSQL's protocol and can cut a connection at a chosen message: before the
// COMMIT leaves, after it left, before its tag or its end returns. Also one that goes silent. For tests only.
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net'
import { resetSocket } from './reset-socket.ts'

/**
 * before-commit: everything up to the COMMIT reaches the server. after-commit: the COMMIT too, and the server ends it, but no
 * answer to it returns. before-ready: its tag returns and the end of the round trip does not. before-answer: nothing at all.
 */
export type CutPoint = 'before-commit' | 'after-commit' | 'before-ready' | 'before-answer'

/** Before the nth message (from 0) that this side sends after the plan was made; later ones are never sent. */
export interface FrameCut {
  readonly side: 'client' | 'server'
  readonly frame: number
}

export interface Proxy {
  readonly port: number
  /** The connection string that was given, through the proxy. */
  readonly connectionString: string
  /** The next connection that reaches the point is cut there; resolves when it was. */
  cutNext(point: CutPoint | FrameCut): Promise<void>
  /** From now on nothing passes in either direction and nobody is told, until `resume`. */
  blackhole(): void
  resume(): void
  /** Resets every open connection. */
  cutAll(): void
  stop(): Promise<void>
}

interface Plan {
  readonly point: CutPoint | FrameCut
  /** Messages until a planned frame. */
  left: number
  readonly done: () => void
}

export interface ProxyOptions {
  /** Changes the statements of clients on their way; for playing a pooler that has its own mind. */
  readonly rewrite?: (statement: string) => string
  /** Greets with a process number of its own, as poolers do. */
  readonly foreignGreeting?: boolean
  /** Listens here again, as a server that comes back does; a free one by default. */
  readonly port?: number
}

export async function startProxy(
  connectionString: string,
  { rewrite, foreignGreeting = false, port: wanted = 0 }: ProxyOptions = {},
): Promise<Proxy> {
  const target = new URL(connectionString)
  const sockets = new Set<Socket>()
  let plan: Plan | null = null
  let silent = false
  const held: (() => void)[] = []

  const server = createServer((front) => {
    const back = connect(Number(target.port === '' ? 5432 : target.port), target.hostname)
    const link = new Link(
      front,
      back,
      () => plan,
      () => {
        plan?.done()
        plan = null
      },
      rewrite,
      foreignGreeting,
    )
    for (const [from, receive] of [
      [front, (data: Buffer) => link.fromClient(data)],
      [back, (data: Buffer) => link.fromServer(data)],
    ] as const) {
      sockets.add(from)
      from.setNoDelay(true)
      from.on('data', (data: Buffer) => (silent ? void held.push(() => receive(data)) : receive(data)))
      from.on('error', () => link.cut())
      from.on('close', () => {
        sockets.delete(from)
        link.cut()
      })
    }
  })
  await listening(server, wanted)
  const { port } = addressOf(server)
  const through = new URL(connectionString)
  through.hostname = '127.0.0.1'
  through.port = String(port)

  const cutAll = (): void => {
    for (const socket of sockets) resetSocket(socket)
  }
  return {
    port,
    connectionString: through.href,
    cutNext: (point) =>
      new Promise<void>((done) => {
        plan = { point, done, left: typeof point === 'object' ? point.frame : 0 }
      }),
    blackhole() {
      silent = true
    },
    resume() {
      silent = false
      for (const deliver of held.splice(0)) deliver()
    },
    cutAll,
    stop: () =>
      new Promise<void>((done) => {
        server.close(() => done())
        cutAll()
      }),
  }
}

// One client's connection: frames in both directions, and the plan applied to them.
class Link {
  private clientBytes = Buffer.alloc(0)
  private serverBytes = Buffer.alloc(0)
  private started = false
  private commitSent = false
  private readonly front: Socket
  private readonly back: Socket
  private readonly plan: () => Plan | null
  private readonly done: () => void
  private readonly rewrite: ((statement: string) => string) | undefined
  private readonly foreignGreeting: boolean

  constructor(
    front: Socket,
    back: Socket,
    plan: () => Plan | null,
    done: () => void,
    rewrite: ((statement: string) => string) | undefined,
    foreignGreeting: boolean,
  ) {
    this.rewrite = rewrite
    this.foreignGreeting = foreignGreeting
    this.front = front
    this.back = back
    this.plan = plan
    this.done = done
  }

  cut(): void {
    this.front.destroy()
    this.back.destroy()
  }

  fromClient(data: Buffer): void {
    this.clientBytes = Buffer.concat([this.clientBytes, data])
    for (let frame = this.clientFrame(); frame !== null; frame = this.clientFrame()) {
      const commits = isCommit(frame)
      if (this.isFrame('client')) return this.cutAsPlanned()
      const point = this.plan()?.point
      if (commits && point === 'before-commit') return this.cutAsPlanned()
      if (commits) this.commitSent = true
      if (!this.back.destroyed) this.back.write(this.rewrite === undefined ? frame : rewritten(frame, this.rewrite))
    }
  }

  fromServer(data: Buffer): void {
    this.serverBytes = Buffer.concat([this.serverBytes, data])
    for (let frame = take(this.serverBytes, 1); frame !== null; frame = take(this.serverBytes, 1)) {
      this.serverBytes = this.serverBytes.subarray(frame.length)
      const type = String.fromCharCode(frame[0] ?? 0)
      if (this.isFrame('server')) return this.cutAsPlanned()
      const point = this.plan()?.point
      if (this.commitSent) {
        const tag = type === 'C' ? frame.subarray(5, -1).toString() : ''
        if (point === 'before-answer') return this.cutAsPlanned()
        if (point === 'after-commit' && (tag === 'COMMIT' || tag === 'ROLLBACK')) return this.cutAsPlanned()
        if (point === 'before-ready' && type === 'Z') return this.cutAsPlanned()
      }
      if (type === 'Z') this.commitSent = false
      if (type === 'K' && this.foreignGreeting) frame.writeInt32BE(frame.readInt32BE(5) ^ 1, 5)
      if (!this.front.destroyed) this.front.write(frame)
    }
  }

  /** The start-up messages have no type byte: a length first. */
  private clientFrame(): Buffer | null {
    const frame = take(this.clientBytes, this.started ? 1 : 0)
    if (frame === null) return null
    this.clientBytes = this.clientBytes.subarray(frame.length)
    // Requests for TLS or GSS come before the start-up message proper and are answered by one byte; nobody asks here.
    if (!this.started && frame.readInt32BE(4) === 196_608) this.started = true
    return frame
  }

  /** Counts a message of this side; true when it is the planned one. */
  private isFrame(side: FrameCut['side']): boolean {
    const plan = this.plan()
    if (plan === null || typeof plan.point === 'string' || plan.point.side !== side) return false
    return plan.left-- === 0
  }

  private cutAsPlanned(): void {
    this.cut()
    this.done()
  }
}

/** The first whole frame: `head` type bytes, then a length that counts itself. */
function take(bytes: Buffer, head: 0 | 1): Buffer | null {
  if (bytes.length < head + 4) return null
  const length = head + bytes.readInt32BE(head)
  return bytes.length < length ? null : Buffer.from(bytes.subarray(0, length))
}

/** A simple query or a parse whose statement is COMMIT, whatever follows. */
function isCommit(frame: Buffer): boolean {
  const type = String.fromCharCode(frame[0] ?? 0)
  if (type !== 'Q' && type !== 'P') return false
  const body = frame.subarray(5).toString('latin1')
  // A parse begins with the name it prepares.
  return /^\s*commit\b/i.test(type === 'P' ? body.slice(body.indexOf('\0') + 1) : body)
}

/** A simple query with its statement changed; anything else as it was. */
function rewritten(frame: Buffer, rewrite: (statement: string) => string): Buffer {
  if (frame[0] !== 0x51) return frame
  const statement = Buffer.from(`${rewrite(frame.subarray(5, -1).toString())}\0`)
  const head = Buffer.alloc(5)
  head.write('Q')
  head.writeInt32BE(4 + statement.length, 1)
  return Buffer.concat([head, statement])
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve())
  })
}

function addressOf(server: Server): AddressInfo {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return address
}
