// One checked-out client: runs round trips on it, notices when its session is gone, and gives it back or destroys it.
// Every client gets an `error` listener for life, so that a backend's end is never an unhandled event; a broken one is never reused.
import type { ClientBase, Pool, PoolClient } from 'pg'
import { LockstepError } from '../protocol/errors.ts'
import { endsSession, faultOf, isFarewell, outcomeUnknown, sqlstateOf } from './pg-errors.ts'
import { COMMIT, roundTrip, RoundTripFailure, type Answer, type Command } from './round-trip.ts'

export interface Connection {
  /** For the user's own statements inside a transaction that we opened here. */
  readonly client: PoolClient
  broken(): boolean
  /** How long it lay in the pool before it was checked out. */
  readonly idleMs: number
  /** One round trip. Throws a LockstepError; after `outcome_unknown` and any other session's end the connection is broken. */
  run(commands: readonly Command[]): Promise<readonly Answer[]>
  /** ROLLBACK, so that the client can be given back; marks it broken when that fails. */
  rollback(): Promise<void>
  /** Gives the client back, or destroys it when it is broken. Once. */
  release(): void
}

interface Session {
  broken: boolean
  /** The server said that a finished commit may not be on the standby. */
  unreplicated: boolean
  usedAt: number
}

const sessions = new WeakMap<ClientBase, Session>()

export async function checkOut(pool: Pool, deadlineMs: number): Promise<Connection> {
  const client = await pool.connect().catch((error: unknown) => {
    throw faultOf(error, { commitSent: false })
  })
  demandUsable(client)
  const session = watch(client)
  const idleMs = performance.now() - session.usedAt
  let released = false

  async function run(commands: readonly Command[]): Promise<readonly Answer[]> {
    if (session.broken) throw new LockstepError('unavailable', 'The connection was lost; nothing was committed.')
    session.unreplicated = false
    const answers = await roundTrip(client, commands, deadlineMs).catch((error: unknown) => {
      if (!(error instanceof RoundTripFailure)) throw error
      if (endsSession(error.cause)) session.broken = true
      // All tags came, only the end of the message did not: what they say is so.
      if (error.answers.length === commands.length) return error.answers
      throw failed(error, commands)
    })
    if (session.unreplicated) throw outcomeUnknown(new Error('the wait for the synchronous standby was cancelled'))
    return answers
  }

  function failed({ cause, answers }: RoundTripFailure, commands: readonly Command[]): LockstepError {
    if (answers.length === 0 && commands[0]?.text.endsWith('read write') && sqlstateOf(cause) === '0A000') {
      // A standby: another connection may reach the primary, so this one is given up.
      session.broken = true
      return new LockstepError(
        'unavailable',
        'This server is a standby and takes no writes.',
        { sqlstate: '0A000' },
        cause,
      )
    }
    if (answers.length === 0 && isFarewell(cause)) {
      // It ended while it lay idle, before the first command reached it: another connection may do all of it.
      const details = { sqlstate: sqlstateOf(cause), unstarted: commands[0]?.text.startsWith('begin') === true }
      return new LockstepError('unavailable', 'PostgreSQL had closed the connection before.', details, cause)
    }
    return faultOf(cause, { commitSent: commands.includes(COMMIT) })
  }

  return {
    client,
    idleMs,
    run,
    broken: () => session.broken,
    async rollback() {
      await run([{ text: 'rollback' }]).catch(() => {
        session.broken = true
      })
    },
    release() {
      if (released) return
      released = true
      session.usedAt = performance.now()
      client.release(session.broken)
    },
  }
}

/**
 * Attaches what must never be missing. Called by the pool's `acquire` event, because the pool takes its own listener off in
 * the same breath, and the server's farewell may lie in the very bytes that said the connection is ready.
 */
export function watch(client: PoolClient): Session {
  const known = sessions.get(client)
  if (known !== undefined) return known
  const session: Session = { broken: false, unreplicated: false, usedAt: performance.now() }
  client.on('error', () => {
    session.broken = true
  })
  client.on('notice', ({ routine }: { routine?: string | undefined }) => {
    // By routine: the text is translated on servers that speak another language.
    if (routine === 'SyncRepWaitForLSN') session.unreplicated = true
  })
  sessions.set(client, session)
  return session
}

function demandUsable(client: PoolClient): void {
  if (!client.pipeline && Reflect.get(client, 'connection') !== undefined) return
  client.release()
  throw new LockstepError(
    'bad_request',
    'The pool must be of pg in JavaScript, without `pipeline: true` and not pg-native.',
  )
}
