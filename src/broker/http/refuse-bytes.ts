// Answers what could not be read as a request at all: broken HTTP, headers that are too large or too slow. It keeps the shape
// of every other fault, then closes. A connection that was reset is only closed, as a reset.
import { mintId } from '../../protocol/mint-id.ts'
import type { Duplex } from 'node:stream'

interface Refusal {
  readonly line: string
  readonly error: string
}

const BROKEN: Refusal = { line: '400 Bad Request', error: 'this is not an HTTP request' }
const REFUSALS: ReadonlyMap<string, Refusal> = new Map([
  ['HPE_HEADER_OVERFLOW', { line: '431 Request Header Fields Too Large', error: 'the headers are too large' }],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', { line: '413 Payload Too Large', error: 'the chunk extensions are too large' }],
  ['ERR_HTTP_REQUEST_TIMEOUT', { line: '408 Request Timeout', error: 'the request did not arrive in time' }],
])

/** For the client to read the answer: what it sent behind the fault is read away, for an unread byte makes a close a reset. */
const LINGER_MS = 1_000
const refused = new WeakSet<Duplex>()

export function refuseBytes(error: Error, socket: Duplex): void {
  if (refused.has(socket)) return
  refused.add(socket)
  const code: unknown = Reflect.get(error, 'code')
  const mayAnswer = code !== 'ECONNRESET' && code !== 'EPIPE' && socket.writable
  // What was written before on this connection is whole: Node reports such bytes only between requests or in one it gave up.
  if (!mayAnswer) {
    socket.destroy(error)
    return
  }
  const { line, error: text } = REFUSALS.get(String(code)) ?? BROKEN
  const body = JSON.stringify({ error: text, code: 'bad_request' })
  socket.end(
    `HTTP/1.1 ${line}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `x-content-type-options: nosniff\r\nx-request-id: ${mintId()}\r\nconnection: close\r\n\r\n${body}`,
  )
  socket.resume()
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
