// What a reset of a connection must leave behind: nothing that keeps a process from its end.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { resetSocket } from './reset-socket.ts'

const RESETS = pathToFileURL(fileURLToPath(new URL('reset-socket.js', import.meta.url))).href

test('a process ends after it reset a connection that was in its farewell', async () => {
  const code = `
    import { connect, createServer } from 'node:net'
    import { resetSocket } from ${JSON.stringify(RESETS)}
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.resume()
      socket.on('end', () => { socket.end('x'); resetSocket(socket); server.close() })
    })
    server.listen(0, '127.0.0.1', () => {
      const client = connect(server.address().port, '127.0.0.1')
      client.on('error', () => {})
      client.resume()
      client.end()
    })
    process.on('exit', () => console.log('the end is near'))`
  const child = promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
    timeout: 60_000,
    killSignal: 'SIGKILL',
  })
  assert.equal((await child).stdout, 'the end is near\n')
})

test('a connection at work is ended by a reset', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    resetSocket(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  const client = connect(address.port, '127.0.0.1')
  const [error] = await once(client, 'error').catch((failed: unknown) => [failed])
  assert.equal(Reflect.get(Object(error), 'code'), 'ECONNRESET')
  server.close()
})
