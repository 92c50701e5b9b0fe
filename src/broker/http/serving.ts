// The listening server, plain or with TLS: its bounds on headers, silence and connections, and the sockets that a stop cuts.
// It decides nothing about requests; the desk does.
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { LIMITS } from '../../protocol/limits.ts'
import type { Logger } from '../logger.ts'
import { followTls, readTls } from '../tls.ts'
import type { TlsOptions } from '../tls.ts'
import type { RequestDesk } from './handle-request.ts'
import { refuseBytes } from './refuse-bytes.ts'

export interface Serving {
  listen(port: number, host: string): Promise<void>
  /** Stops listening and cuts what is connected. */
  close(): Promise<void>
  address(host: string): string
  readonly connections: number
}

/** A client that sends its headers or body slower than this is cut; so is a connection that carries nothing. */
const BOUNDS = {
  maxHeaderSize: LIMITS.headerBytes,
  headersTimeout: 30_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 2_000,
  noDelay: true,
}
const HANDSHAKE_MS = 10_000
const SILENCE_MS = 120_000
const SOCKETS = LIMITS.parkedPolls + 5_000

export function createServing(desk: RequestDesk, tls: TlsOptions | null, logger: Logger): Serving {
  const secured = tls && createTlsServer({ ...BOUNDS, ...readTls(tls), handshakeTimeout: HANDSHAKE_MS }, desk.listener)
  const server = secured ?? createServer(BOUNDS, desk.listener)
  const unfollow = secured && tls ? followTls(secured, tls, logger) : null
  server.timeout = SILENCE_MS
  server.maxConnections = SOCKETS
  server.on('checkContinue', desk.listener)
  server.on('clientError', refuseBytes)
  const sockets = new Set<Socket>()
  const keep = (socket: Socket, isServed: boolean): void => {
    sockets.add(socket)
    socket.on('close', (failed) => {
      sockets.delete(socket)
      if (failed && isServed) desk.reset(socket)
    })
  }
  // With TLS a request names the socket inside; the one outside is kept too, for it is there before the handshake.
  server.on('connection', (socket: Socket) => keep(socket, secured === null))
  secured?.on('secureConnection', (socket: Socket) => keep(socket, true))

  return {
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen({ port, host, backlog: 4_096 }, () => {
          server.off('error', reject)
          resolve()
        })
      }),
    async close() {
      unfollow?.()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
    address(host) {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
      return `${secured ? 'https' : 'http'}://${name}:${port}`
    },
    get connections() {
      return sockets.size
    },
  }
}
