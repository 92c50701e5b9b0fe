// Hears the hints of other processes on a connection of its own. A hint only says where looking may pay; whoever misses it
// finds the work at the next poll. So this may fail in any way: it tries again, says in what state it is, and disturbs nobody.
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, type ClientConfig, type Notification } from 'pg'
import { LIMITS } from '../protocol/limits.ts'
import { CHANNEL, readHints } from './hint-payload.ts'
import { ownSession } from './own-session.ts'

/** listening: hints arrive. polling: the connection is there and hints do not pass (a pooler). lost: no connection. */
export type ListenState = 'stopped' | 'lost' | 'listening' | 'polling'

export interface ListenerOptions {
  /** A direct connection, not through a transaction pooler. */
  readonly config: ClientConfig
  /** Hints of other processes; null: any may have been missed, look everywhere. */
  readonly onHints: (hints: readonly string[] | null) => void
  /** Own hints come back too and are dropped by this name. */
  readonly processId: string
  readonly onState?: (state: ListenState, reason: string) => void
  /** For tests: how often it proves itself, how long it waits for an answer, and when it tries again where hints do not pass. */
  readonly proofMs?: number
  readonly answerMs?: number
  readonly pollingPauseMs?: number
}

const FIRST_PAUSE_MS = 100
const LAST_PAUSE_MS = 5_000
/** Where hints do not pass today they may tomorrow: the settings of a pooler change. */
const POLLING_PAUSE_MS = 300_000

export class Listener {
  state: ListenState = 'stopped'
  private readonly options: ListenerOptions
  private readonly proofMs: number
  private readonly answerMs: number
  private stopping = new AbortController()
  private running: Promise<void> | null = null

  constructor(options: ListenerOptions) {
    this.options = options
    this.proofMs = options.proofMs ?? LIMITS.listenProofMs
    this.answerMs = options.answerMs ?? LIMITS.listenAnswerMs
  }

  /** Idempotent; returns at once, the connection is made behind. */
  start(): void {
    if (this.running !== null) return
    this.stopping = new AbortController()
    this.running = this.keepListening(this.stopping.signal)
  }

  /** Idempotent; resolves when the connection is gone. */
  async stop(): Promise<void> {
    this.stopping.abort()
    await this.running
    this.running = null
    // Whoever stops it knows: only what happens by itself is told.
    this.state = 'stopped'
  }

  private async keepListening(signal: AbortSignal): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS
    while (!signal.aborted) {
      const client = new Client({ connectionTimeoutMillis: LIMITS.connectTimeoutMs, ...this.options.config })
      let reason = 'the connection ended'
      const ended = new Promise<void>((resolve) => {
        client.on('error', (error) => {
          reason = error.message
          resolve()
        })
        client.on('end', resolve)
      })
      const hangUp = (): void => void client.connection.stream.destroy()
      signal.addEventListener('abort', hangUp)
      try {
        await client.connect()
        const deaf = await this.subscribe(client, ended)
        pauseMs = deaf === null ? FIRST_PAUSE_MS : (this.options.pollingPauseMs ?? POLLING_PAUSE_MS)
        if (deaf === null) {
          this.enter('listening', 'hints arrive')
          this.options.onHints(null)
          await this.prove(client, ended)
        } else if (!signal.aborted) this.enter('polling', deaf)
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error)
      }
      if (!signal.aborted && this.state !== 'polling') this.enter('lost', reason)
      signal.removeEventListener('abort', hangUp)
      await end(client)
      await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {})
      pauseMs = Math.min(LAST_PAUSE_MS, pauseMs * 2)
    }
  }

  /** Null when a notification sent here came back here; else why none will. */
  private async subscribe(client: Client, ended: Promise<void>): Promise<string | null> {
    // Behind a pooler a LISTEN would stay on a session that others use next, and a lucky delivery would prove nothing.
    if (!(await this.answer(ownSession(client), ended)))
      return 'a pooler stands between: LISTEN needs a connection straight to PostgreSQL'
    const probe = `probe ${this.options.processId} ${Math.random()}`
    const delivered = new Promise<boolean>((resolve) => {
      client.on('notification', ({ payload }: Notification) => {
        if (payload === probe) resolve(true)
        else this.hear(payload)
      })
    })
    await this.answer(client.query(`listen ${CHANNEL}`), ended)
    await this.answer(client.query('select pg_notify($1, $2)', [CHANNEL, probe]), ended)
    const heard = await Promise.race([delivered, sleep(this.answerMs, false, { ref: false }), ended.then(() => false)])
    return heard ? null : 'LISTEN is not delivered on this connection'
  }

  /** Asks at intervals whether this session still listens, until it does not answer, does not listen or has ended. */
  private async prove(client: Client, ended: Promise<void>): Promise<void> {
    while (!(await Promise.race([sleep(this.proofMs, false, { ref: false }), ended.then(() => true)]))) {
      const { rows } = await this.answer(
        client.query({ text: 'select pg_listening_channels()', rowMode: 'array' }),
        ended,
      )
      if (!rows.flat().includes(CHANNEL)) throw new Error('the session no longer listens')
    }
  }

  private answer<T>(query: Promise<T>, ended: Promise<void>): Promise<T> {
    query.catch(() => {})
    const late = sleep(this.answerMs, undefined, { ref: false })
    return Promise.race([
      query,
      late.then(() => Promise.reject(new Error(`no answer within ${this.answerMs} ms`))),
      ended.then(() => Promise.reject(new Error('the connection ended'))),
    ])
  }

  private hear(payload: string | undefined): void {
    const heard = readHints(payload ?? '')
    if (heard === null || heard.processId === this.options.processId) return
    this.options.onHints(heard.hints)
  }

  private enter(state: ListenState, reason: string): void {
    if (this.state === state) return
    this.state = state
    this.options.onState?.(state, reason)
  }
}

/** A peer that does not answer would keep a graceful end waiting. */
async function end(client: Client): Promise<void> {
  const ending = client.end().catch(() => {})
  await Promise.race([ending, sleep(500, undefined, { ref: false })])
  client.connection.stream.destroy()
}
