// A proxy before a broker that cuts connections when the answer comes: the broker has done what it was asked, and nobody hears.
import { connect, createServer, type Server, type Socket } from 'node:net'

export interface CuttingProxy {
  readonly url: string
  /** The next answers of this many connections are cut. */
  cut(answers: number): void
  readonly cuts: number
  stop(): Promise<void>
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

export async function cuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let due = 0
  let cuts = 0
  const server = createServer((front) => {
    const back = connect(Number(port), hostname)
    for (const [from, to] of [
      [front, back],
      [back, front],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
    front.on('data', (data: Buffer) => back.write(data))
    back.on('data', (data: Buffer) => {
      if (due > 0) {
        due -= 1
        cuts += 1
        front.destroy()
      } else front.write(data)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    cut(answers) {
      due = answers
    },
    get cuts() {
      return cuts
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
