// Reads request bodies within their bounds: one body, and all bodies being read together. What is too large is refused
// before it is kept, let alone parsed. Also turns the bytes into the text the decoders take.
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import type { RequestBody } from '../../protocol/request-body.ts'

export interface BodyReader {
  /** Calls back once, with the whole body or with the fault. */
  read(
    request: IncomingMessage,
    response: ServerResponse,
    done: (fault: LockstepError | null, body: Buffer) => void,
  ): void
  readonly bytes: number
}

const EMPTY = Buffer.alloc(0)

export function createBodyReader(
  bodyBytes: number = LIMITS.bodyBytes,
  allBytes: number = LIMITS.inFlightBodyBytes,
): BodyReader {
  let inFlight = 0

  const tooLarge = (): LockstepError =>
    new LockstepError('payload_too_large', `the body must be at most ${bodyBytes} bytes`)
  const tooMany = (): LockstepError =>
    new LockstepError('overloaded', `bodies of ${allBytes} bytes are being read already; come back later`)

  return {
    read(request, response, done) {
      const announced = Number(request.headers['content-length'] ?? 0)
      if (announced > bodyBytes) {
        done(tooLarge(), EMPTY)
        return
      }
      if (announced > 0 && inFlight > 0 && inFlight + announced > allBytes) {
        done(tooMany(), EMPTY)
        return
      }
      let reserved = announced
      inFlight += reserved
      let chunks: Buffer[] | null = null
      let first: Buffer | null = null
      let size = 0
      let over = false

      function finish(fault: LockstepError | null, body: Buffer): void {
        if (over) return
        over = true
        inFlight -= reserved
        done(fault, body)
      }

      request.on('data', (chunk: Buffer) => {
        if (over) return
        size += chunk.length
        if (size > bodyBytes) {
          finish(tooLarge(), EMPTY)
          return
        }
        if (size > reserved) {
          inFlight += size - reserved
          reserved = size
          if (inFlight > allBytes && inFlight > size) {
            finish(tooMany(), EMPTY)
            return
          }
        }
        if (first === null) first = chunk
        else (chunks ??= [first]).push(chunk)
      })
      request.on('end', () => finish(null, chunks ? Buffer.concat(chunks, size) : (first ?? EMPTY)))
      request.on('close', () => {
        // Said only when it is so: every request ends with this event, and an error costs its stack.
        if (!over) finish(new LockstepError('bad_request', 'the connection ended before the body did'), EMPTY)
      })
      if (request.headers.expect !== undefined) response.writeContinue()
    },
    get bytes() {
      return inFlight
    },
  }
}

/** As one character per byte when the bytes are no UTF-8, with the means to tell which part is not. */
export function bodyText(body: Buffer): RequestBody {
  if (isUtf8(body)) return { text: body.toString('utf8'), broken: null }
  return {
    text: body.toString('latin1'),
    broken: (raw) => {
      const bytes = Buffer.from(raw, 'latin1')
      return isUtf8(bytes) ? bytes.toString('utf8') : null
    },
  }
}
