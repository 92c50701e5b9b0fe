// Sends several statements in one message to the server and reads all their answers: BEGIN, its settings, the work and
// COMMIT cost one round trip together. It reports tags and rows as text and judges nothing; nothing here opens or ends a client.
import type { ClientBase, Connection, Submittable } from 'pg'
import { arrayLiteral } from './array-literal.ts'
import type { Param, Row } from './executor.ts'

export interface Command {
  readonly text: string
  readonly params?: readonly Param[]
}

/** Ends a transaction; what is in flight with it may be committed. */
export const COMMIT: Command = { text: 'commit' }

export interface Answer {
  /** The command tag's first word: BEGIN, SELECT, COMMIT, ROLLBACK … */
  readonly tag: string
  readonly rows: readonly Row[]
}

/** Why a round trip failed, with the answers of the commands that had succeeded before. */
export class RoundTripFailure extends Error {
  override readonly name = 'RoundTripFailure'
  readonly answers: readonly Answer[]

  constructor(cause: unknown, answers: readonly Answer[]) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.answers = answers
  }
}

/** Sends the commands and waits for all answers. After the first error the server skips the rest. */
export function roundTrip(
  client: ClientBase,
  commands: readonly Command[],
  deadlineMs: number,
): Promise<readonly Answer[]> {
  return new Promise((resolve, reject) => {
    client.query(new RoundTrip(commands, deadlineMs, resolve, reject))
  })
}

// What pg asks of a query object: it calls one method per message of the server, in order.
class RoundTrip implements Submittable {
  /** Set and called by pg when the client has a query_timeout of its own. */
  callback: ((error: unknown) => void) | undefined = undefined
  private readonly answers: Answer[] = []
  private rows: Row[] = []
  private settled = false
  private readonly timer: NodeJS.Timeout
  private readonly commands: readonly Command[]
  private readonly resolve: (answers: readonly Answer[]) => void
  private readonly reject: (reason: RoundTripFailure) => void

  constructor(
    commands: readonly Command[],
    deadlineMs: number,
    resolve: (answers: readonly Answer[]) => void,
    reject: (reason: RoundTripFailure) => void,
  ) {
    this.commands = commands
    this.resolve = resolve
    this.reject = reject
    // The server bounds its own work; this is for the answer that never comes. The caller then drops the client.
    this.timer = setTimeout(() => this.handleError(new Error('connection gave no answer in time')), deadlineMs)
  }

  submit(connection: Connection): void {
    connection.stream.cork()
    try {
      for (const { text, params } of this.commands) {
        connection.parse({ text, name: '', types: [] }, true)
        connection.bind({ portal: '', statement: '', values: (params ?? []).map(wireText) }, true)
        connection.execute({ portal: '' }, true)
      }
      connection.sync()
    } finally {
      connection.stream.uncork()
    }
  }

  handleDataRow(message: { fields: (string | null)[] }): void {
    this.rows.push(message.fields)
  }

  handleCommandComplete(message: { text: string }): void {
    const space = message.text.indexOf(' ')
    this.answers.push({ tag: space === -1 ? message.text : message.text.slice(0, space), rows: this.rows })
    this.rows = []
  }

  handleEmptyQuery(): void {
    this.answers.push({ tag: '', rows: [] })
  }

  handleReadyForQuery(): void {
    if (this.settle(null)) this.resolve(this.answers)
  }

  handleError(error: unknown): void {
    if (this.settle(error)) this.reject(new RoundTripFailure(error, this.answers))
  }

  handleRowDescription(): void {}
  handlePortalSuspended(): void {}
  handleCopyData(): void {}
  handleCopyInResponse(connection: { sendCopyFail(message: string): void }): void {
    connection.sendCopyFail('COPY is not spoken here')
  }

  private settle(error: unknown): boolean {
    if (this.settled) return false
    this.settled = true
    clearTimeout(this.timer)
    this.callback?.(error)
    return true
  }
}

function wireText(param: Param): string | null {
  return typeof param === 'string' || param === null ? param : arrayLiteral(param)
}
