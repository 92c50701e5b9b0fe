// An issuer's key address for tests: an HTTP server whose answer can be changed and whose requests are counted.
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { TestEnd } from '../../src/testing/database.ts'

export interface PublishedKeys {
  readonly url: string
  readonly asked: number
  /** What is answered from now on. */
  answer(reply: (response: ServerResponse) => void): void
  publish(keys: readonly unknown[]): void
}

export async function publishKeys(t: TestEnd, keys: readonly unknown[]): Promise<PublishedKeys> {
  const set =
    (list: readonly unknown[]) =>
    (response: ServerResponse): void =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: list }))
  let asked = 0
  let reply = set(keys)
  const server = createServer((_, response) => {
    asked += 1
    reply(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/keys`,
    get asked() {
      return asked
    },
    answer(next) {
      reply = next
    },
    publish(list) {
      reply = set(list)
    },
  }
}
