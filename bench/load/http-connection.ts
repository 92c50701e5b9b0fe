// One keep-alive connection to a server on this machine, one request in flight at a time. It understands just enough of
// HTTP/1.1 to measure with: the load must cost less than what it loads, and bodies must differ from request to request.
import { connect } from 'node:net'
import type { Socket } from 'node:net'

export interface Answer {
  readonly status: number
  readonly body: string
}

export interface HttpConnection {
  send(method: string, path: string, body?: string): Promise<Answer>
  close(): void
}

interface Waiter {
  resolve(answer: Answer): void
  reject(error: Error): void
}

export function openConnection(url: string): Promise<HttpConnection> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(over(socket, `Host: ${hostname}:${port}\r\n`))
    })
  })
}

function over(socket: Socket, host: string): HttpConnection {
  let waiter: Waiter | null = null
  let gathered: Buffer | null = null

  const fail = (error: Error): void => {
    const waiting = waiter
    waiter = null
    waiting?.reject(error)
  }
  socket.on('data', (chunk) => {
    gathered = gathered === null ? chunk : Buffer.concat([gathered, chunk])
    const answer = readAnswer(gathered)
    if (answer === null) return
    gathered = null
    const waiting = waiter
    waiter = null
    waiting?.resolve(answer)
  })
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the server closed the connection')))

  return {
    send(method, path, body) {
      return new Promise((resolve, reject) => {
        waiter = { resolve, reject }
        const head = `${method} ${path} HTTP/1.1\r\n${host}`
        if (body === undefined) socket.write(`${head}\r\n`, 'latin1')
        else {
          const length = Buffer.byteLength(body)
          socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`, 'utf8')
        }
      })
    },
    close: () => socket.destroy(),
  }
}

/** Null while the answer is not whole. */
export function readAnswer(bytes: Buffer): Answer | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return null
  const head = bytes.toString('latin1', 0, end).toLowerCase()
  const status = Number(head.slice(9, 12))
  if (status === 204 || status === 304) return { status, body: '' }
  const start = end + 4
  const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1]
  if (length !== undefined) {
    const stop = start + Number(length)
    return bytes.length < stop ? null : { status, body: bytes.toString('utf8', start, stop) }
  }
  const parts: Buffer[] = []
  for (let at = start; ;) {
    const line = bytes.indexOf('\r\n', at)
    if (line === -1) return null
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    const stop = line + 2 + size
    if (bytes.length < stop + 2) return null
    if (size === 0) return { status, body: Buffer.concat(parts).toString('utf8') }
    parts.push(bytes.subarray(line + 2, stop))
    at = stop + 2
  }
}
