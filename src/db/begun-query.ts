// A user's statement with the BEGIN of its transaction before it in one message to the server: a round trip less in every
// step. When the BEGIN fails the server skips the statement too, so nothing ever runs outside of the transaction. Only for
// statements of pg's own kind that go by the extended protocol; for all others BEGIN is sent by itself first.
import { Query, type Connection } from 'pg'
import type { Command } from './round-trip.ts'

/** What pg's client calls on a query object. */
interface Inner {
  callback: unknown
  readonly text: unknown
  readonly name: unknown
  readonly _result: unknown
  submit(connection: Connection): unknown
  handleRowDescription(message: unknown): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, connection: Connection): void
  handleEmptyQuery(connection: Connection): void
  handleError(error: unknown, connection: Connection): void
  handleReadyForQuery(connection: Connection): void
  handlePortalSuspended(connection: Connection): void
  handleCopyInResponse(connection: Connection): void
  handleCopyData(message: unknown, connection: Connection): void
}

class BegunQuery {
  readonly begun: Promise<void>
  private answersLeft: number
  private readonly begin: readonly Command[]
  private readonly inner: Inner
  private readonly onBegun: () => void
  private readonly onRefused: (error: unknown) => void

  constructor(begin: readonly Command[], inner: Inner) {
    this.begin = begin
    this.inner = inner
    this.answersLeft = begin.length
    let onBegun: () => void = () => {}
    let onRefused: (error: unknown) => void = () => {}
    this.begun = new Promise((resolve, reject) => {
      onBegun = resolve
      onRefused = reject
    })
    this.begun.catch(() => {})
    this.onBegun = onBegun
    this.onRefused = onRefused
  }

  submit(connection: Connection): unknown {
    connection.stream.cork()
    try {
      for (const { text } of this.begin) {
        connection.parse({ text, name: '', types: [] }, true)
        connection.bind({ portal: '', statement: '', values: [] }, true)
        connection.execute({ portal: '' }, true)
      }
      return this.inner.submit(connection)
    } finally {
      connection.stream.uncork()
    }
  }

  handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.answersLeft === 0) {
      this.inner.handleCommandComplete(message, connection)
      return
    }
    this.answersLeft -= 1
    if (this.answersLeft === 0) this.onBegun()
  }

  handleError(error: unknown, connection: Connection): void {
    if (this.answersLeft > 0) this.onRefused(error)
    this.inner.handleError(error, connection)
  }

  get callback(): unknown {
    return this.inner.callback
  }
  set callback(callback: unknown) {
    this.inner.callback = callback
  }
  get _result(): unknown {
    return this.inner._result
  }
  handleRowDescription(message: unknown): void {
    this.inner.handleRowDescription(message)
  }
  handleDataRow(message: unknown): void {
    this.inner.handleDataRow(message)
  }
  handleEmptyQuery(connection: Connection): void {
    this.inner.handleEmptyQuery(connection)
  }
  handleReadyForQuery(connection: Connection): void {
    this.inner.handleReadyForQuery(connection)
  }
  handlePortalSuspended(connection: Connection): void {
    this.inner.handlePortalSuspended(connection)
  }
  handleCopyInResponse(connection: Connection): void {
    this.inner.handleCopyInResponse(connection)
  }
  handleCopyData(message: unknown, connection: Connection): void {
    this.inner.handleCopyData(message, connection)
  }
}

export interface Begun {
  /** For pg's `client.query`. */
  readonly query: object & { submit(connection: Connection): unknown }
  /** What the statement brought. */
  readonly answer: Promise<unknown>
  /** Rejects when the transaction was not begun. */
  readonly begun: Promise<void>
}

/** Null: this call of `query` needs its BEGIN sent before. */
export function begunQuery(begin: readonly Command[], given: readonly unknown[]): Begun | null {
  const [first, second, ...others] = given
  const config: Record<string, unknown> | null =
    typeof first === 'string' ? { text: first } : isPlain(first) ? { ...first } : null
  if (config === null || others.length > 0 || typeof second === 'function') return null
  if (second !== undefined) config['values'] = second
  const { text, values } = config
  // A statement that is prepared by name, or without values and so by the simple protocol, is not joined.
  if (typeof text !== 'string' || !Array.isArray(values) || values.length === 0) return null
  if ('name' in config || 'rows' in config || 'submit' in config || 'callback' in config) return null
  // pg's own query object: its methods are the ones named, and @types/pg does not list them.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const inner = new Query({ ...config, text, values: [...(values as unknown[])] }) as unknown as Inner
  const answer = new Promise<unknown>((resolve, reject) => {
    inner.callback = (error: unknown, result: unknown) => {
      if (error === null || error === undefined) resolve(result)
      else reject(error instanceof Error ? error : new Error('the statement failed', { cause: error }))
    }
  })
  const query = new BegunQuery(begin, inner)
  return { query, answer, begun: query.begun }
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
