// A reverse proxy before several brokers: each request goes to one of them, drawn from a seed, so that two calls of one client
// rarely meet the same process. It carries bytes and ends, decides nothing else, and repeats nothing: what a broker cuts is cut.
import { Agent, createServer, request } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { randomFrom } from './random-from.ts'

export interface SpreadingProxy {
  readonly address: string
  /** How many requests each broker got. */
  readonly shares: readonly number[]
  stop(): Promise<void>
}

export async function startSpreadingProxy(brokers: readonly string[], seed: number): Promise<SpreadingProxy> {
  const random = randomFrom(seed)
  const agent = new Agent({ keepAlive: true })
  const shares = brokers.map(() => 0)

  function draw(): URL {
    const at = Math.floor(random() * brokers.length)
    shares[at] = (shares[at] ?? 0) + 1
    return new URL(brokers[at] ?? '')
  }

  const server = createServer((incoming, outgoing) => carry(draw(), agent, incoming, outgoing))
  const port = await listen(server)
  return {
    address: `http://127.0.0.1:${port}`,
    shares,
    async stop() {
      agent.destroy()
      server.closeAllConnections()
      await new Promise<void>((done) => server.close(() => done()))
    },
  }
}

function carry(to: URL, agent: Agent, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method = 'GET', url: path = '/', headers } = incoming
  const onward = request({ hostname: to.hostname, port: to.port, method, path, headers: { ...headers }, agent })
  onward.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.headers)
    answer.on('error', () => outgoing.destroy())
    answer.pipe(outgoing)
  })
  onward.on('error', () => outgoing.destroy())
  // A client that goes away is gone for the broker too.
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) onward.destroy()
  })
  incoming.on('error', () => onward.destroy())
  incoming.pipe(onward)
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((done, failed) => {
    server.once('error', failed)
    server.listen(0, '127.0.0.1', done)
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no port')
  return address.port
}
