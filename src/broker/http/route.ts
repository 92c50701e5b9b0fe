// What a route is: one row of data with its handler. Matching, guarding, the reference page and the metrics all read the
// same row, so that no route can be served that is not described.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Fields } from '../../protocol/check.ts'
import type { BrokerParts } from '../parts.ts'
import type { BodyPart } from './body-parts.ts'

export type Access = 'public' | 'read-only' | 'read-write' | 'write-only' | 'admin'
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface Call {
  readonly parts: BrokerParts
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly route: Route
  readonly requestId: string
  /** The subject of the caller's token; null without authentication, or when the token names nobody. */
  readonly sub: string | null
  /** Of the path pattern, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly queryText: string
  /** Empty when the request has none. */
  readonly body: Buffer
}

export interface Answer {
  readonly status: number
  /** Null only with 204. */
  readonly body: string | null
  readonly type?: string
  readonly headers?: readonly string[]
  /** Called when the connection ended before the answer had gone out. */
  readonly undelivered?: () => void
}

export interface Route {
  readonly method: Method
  /** `:name` takes one segment, `*name` all that is left. */
  readonly path: string
  readonly access: Access
  /** A: needed by client libraries in normal use. B: administration. C: exotic. */
  readonly rank: 'A' | 'B' | 'C'
  /** Whether it changes anything; a page of another origin may not call it then. */
  readonly changes: boolean
  readonly about: string
  readonly query?: Fields
  /** Fields of the body, of its parts, or what it looks like in words. */
  readonly body?: Fields | readonly BodyPart[] | string
  /** Example or description per status. */
  readonly answers: Readonly<Record<number, string>>
  /** The answer; null when the client has gone. */
  readonly handle: (call: Call) => Answer | Promise<Answer | null>
}

export const NO_CONTENT: Answer = { status: 204, body: null }

export const json = (body: string, status = 200): Answer => ({ status, body })
