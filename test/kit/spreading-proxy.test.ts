// The rig is tested too: a proxy that sent everything to one broker would let every test of two pass.
import assert from 'node:assert/strict'
import { createServer, get, type Server } from 'node:http'
import { test } from 'node:test'
import { until } from './quiet.ts'
import { startSpreadingProxy } from './spreading-proxy.ts'

interface Place {
  readonly server: Server
  readonly address: string
  came: number
  gone: number
}

async function place(name: string): Promise<Place> {
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === '/cut') incoming.socket.destroy()
    else if (incoming.url === '/wait') {
      here.came += 1
      outgoing.on('close', () => (here.gone += 1))
    } else outgoing.writeHead(204, { 'x-place': name }).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  const here: Place = {
    server,
    address: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    came: 0,
    gone: 0,
  }
  return here
}

const ask = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    get(url, { agent: false }, (answer) => {
      answer.resume()
      resolve(String(answer.headers['x-place']))
    }).on('error', reject)
  })

test('each request goes to a place drawn from the seed; who goes away is gone there, and what a place cuts is cut', async (t) => {
  const places = [await place('a'), await place('b')]
  const open = (seed: number) =>
    startSpreadingProxy(
      places.map(({ address }) => address),
      seed,
    )
  const drawn = async (seed: number): Promise<readonly string[]> => {
    const proxy = await open(seed)
    const answers: string[] = []
    for (let n = 0; n < 40; n++) answers.push(await ask(proxy.address))
    await proxy.stop()
    return answers
  }
  const proxy = await open(7)
  t.after(() => {
    for (const { server } of places) server.closeAllConnections()
    for (const { server } of places) server.close()
    return proxy.stop()
  })
  const first = await drawn(1)
  assert.ok(Math.min(...['a', 'b'].map((name) => first.filter((one) => one === name).length)) >= 8, first.join(''))
  assert.deepEqual(await drawn(1), first)
  assert.notDeepEqual(await drawn(2), first)

  await assert.rejects(ask(`${proxy.address}/cut`), /socket hang up|ECONNRESET/)
  const gone = (): number => places.reduce((sum, one) => sum + one.gone, 0)
  const waiting = get(`${proxy.address}/wait`, { agent: false })
  waiting.on('error', () => {})
  await until('a place has the request', () => places.some(({ came }) => came > 0))
  assert.equal(gone(), 0)
  waiting.destroy()
  await until('the place knows that it is gone', () => gone() === 1)
})
