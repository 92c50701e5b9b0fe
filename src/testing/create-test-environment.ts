// Everything that a test of actions and workflows needs: a migrated database of its own, a client and a worker on it, and the
// means to kill, to move the clock, to run until nothing is due and to look on. It knows no test runner.
import type { Pool } from 'pg'
import { Lockstep } from '../client/lockstep.ts'
import type { ConnectionOptions } from '../client/client-options.ts'
import type { Logger } from '../client/logger.ts'
import { definitionIn, type Defined } from '../workflow/define/definition.ts'
import { milliseconds, type Duration } from '../workflow/define/policy.ts'
import type { Startable } from '../workflow/define/submitter.ts'
import type { WorkerStatus } from '../workflow/define/worker.ts'
import { createTestDatabase } from './database.ts'
import { drain, runUpkeep } from './drain.ts'
import { createKills } from './kills.ts'
import { makeClockMovable, moveClock } from './move-clock.ts'
import { createSpies, type Spy } from './spies.ts'
import { createTestWorker } from './test-worker.ts'

export interface TestEnvironmentOptions {
  /** How long a claim holds without a heartbeat, so how soon a killed attempt comes again; default 1,000. */
  readonly leaseMs?: number | undefined
  /** The worker's longest pause between looks; default 50. */
  readonly pollMs?: number | undefined
  /** Handlers at once; default 10. */
  readonly concurrency?: number | undefined
  /** Queues of actions that the worker serves; default ['default']. */
  readonly queues?: readonly string[] | undefined
  /** Connections of the client; default 10. */
  readonly connections?: number | undefined
  /** Gets what client and worker report; default: nobody, because tests fail attempts on purpose. */
  readonly logger?: Logger | undefined
}

export interface TestEnvironment extends AsyncDisposable {
  readonly client: Lockstep<ConnectionOptions>
  /** Of the same database, for the test's own tables. */
  readonly pool: Pool
  readonly connectionString: string
  /** Lets the worker run these too; resolves when it looks for them. The actions of a graph are known with it. */
  register(...defined: readonly Defined[]): Promise<void>
  /** The worker of all that was registered. */
  readonly worker: {
    /** Claims no more and hands back what it holds; `start` goes on with what was registered. */
    stop(): Promise<void>
    start(): Promise<void>
    status(): WorkerStatus
  }
  /**
   * Stops the next attempt of an action, or the named node, step or call, once: after what it wrote and before its commit,
   * exactly as a dead process would. Its transaction's server process is ended, its lease lapses after `leaseMs`. Resolves when
   * it has happened.
   */
  killAfter(name: string): Promise<void>
  readonly clock: {
    /** Moves the database's clock forward and lets everybody look: what is due by then begins, leases that are over lapse. */
    advance(duration: Duration): Promise<void>
    /** By the database's clock. */
    now(): Promise<Date>
  }
  /** Runs until nothing is due now; what sleeps or waits for a signal stays. Default timeout: '30s'. */
  drain(options?: { readonly timeout?: Duration | undefined }): Promise<void>
  /** The attempts of an action, from the environment's beginning. */
  spy<In, Out>(action: Startable<In, Out>): Spy<In, Out>
  spy(action: string): Spy
  /** Stops the worker, closes the client and drops the database. Idempotent; `await using` calls it. */
  close(): Promise<void>
}

const SILENT: Logger = { warn() {} }

export async function createTestEnvironment(options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
  const { leaseMs = 1_000, pollMs = 50, logger = SILENT } = options
  const own = await createTestDatabase()
  const { connectionString, database } = own
  await makeClockMovable(database)
  const client = new Lockstep({ connectionString, connections: options.connections ?? 10, logger })
  const spies = createSpies()
  const kills = createKills(database)
  const worker = createTestWorker(client, {
    lease: milliseconds(leaseMs, 'leaseMs'),
    poll: milliseconds(pollMs, 'pollMs'),
    drain: 5_000,
    ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
    ...(options.queues === undefined ? {} : { queues: options.queues }),
    hooks: { beforeCommit: kills.beforeCommit, apart: kills.isArmed, began: spies.began, ended: spies.ended },
  })
  const upkeep = { database, onPlaced: (): void => {} }
  let closing: Promise<void> | null = null

  async function end(): Promise<void> {
    await worker.stop()
    await client.close({ timeoutMs: 1_000 })
    await own.drop()
  }
  const close = (): Promise<void> => (closing ??= end())

  function spy<In, Out>(action: Startable<In, Out>): Spy<In, Out>
  function spy(action: string): Spy
  function spy(action: string | Startable<unknown, unknown>): Spy {
    return spies.on(typeof action === 'string' ? action : definitionIn(action).name)
  }

  return {
    client,
    pool: database.pool,
    connectionString,
    register: worker.register,
    worker: { start: worker.start, stop: worker.stop, status: worker.status },
    killAfter: kills.arm,
    clock: {
      async advance(duration) {
        await moveClock(database, milliseconds(duration, 'duration'))
        await runUpkeep(upkeep)
        await client.wake()
      },
      async now() {
        const [row] = await database.rows('select lockstep.instant_text(lockstep.clock())', [])
        return new Date(row?.[0] ?? Number.NaN)
      },
    },
    drain: async ({ timeout = 30_000 } = {}) =>
      drain({ ...upkeep, wake: async () => client.wake(), timeoutMs: milliseconds(timeout, 'timeout') }),
    spy,
    close,
    [Symbol.asyncDispose]: close,
  }
}
