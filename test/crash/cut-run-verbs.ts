// The verbs about runs, as they are cut in two: submissions, in a commit of their own and in a user's, a claim, and the ends of a
// claimed node, the completion also as the last statement of a transaction with the user's rows.
import { foreignDoor } from '../../src/db/foreign-door.ts'
import type { Database } from '../../src/db/pool.ts'
import { openTransaction } from '../../src/db/transaction.ts'
import { claim } from '../../src/operations/claim.ts'
import { completeCommand } from '../../src/operations/complete-in.ts'
import { completeNodes } from '../../src/operations/complete-nodes.ts'
import { failNodes } from '../../src/operations/fail-nodes.ts'
import { submitIn } from '../../src/operations/submit-in.ts'
import { submit } from '../../src/operations/submit.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import { runOf } from '../kit/run-world.ts'
import { nobody, type Verb } from './cut-verbs.ts'

const LEASE = 'lease'
const USERS = 'create table effect (n int)'

const claimed = (db: Database) => claim(db, { wants: ['job'], leaseId: LEASE, leaseMs: 600_000, max: 10, floor: null })

/** The run's id travels as a lease's does. */
const held: Verb['prepare'] = async (db) => {
  const run = runOf('job')
  await db.rows(USERS, [])
  await submit(db, [run])
  await claimed(db)
  return { ...nobody, leaseId: run.runId }
}

const completionOf = (runId: string) => ({ runId, ordinal: 0, leaseId: LEASE, output: '1', plans: [] })

export const RUN_VERBS: Readonly<Record<string, Verb>> = {
  submission: {
    run: (db) => submit(db, [runOf('job'), runOf('job', { key: 'k' })]),
    effects: 'select count(*) / 2.0 * (select count(*) from lockstep.run_key) from lockstep.node',
  },
  "submission in a user's transaction": {
    prepare: async (db) => {
      await db.rows(USERS, [])
      return null
    },
    async run(db) {
      const tx = await openTransaction(db)
      try {
        await tx.rows('insert into effect values (1)', [])
        const door = foreignDoor({
          text: async (statement, params) => (await tx.rows(statement, params))[0]?.[0] ?? null,
        })
        await submitIn(door, [runOf('job')])
        await tx.commit()
      } catch (error) {
        await tx.rollback()
        throw error
      }
    },
    // Ten for a run without its row, or a row without its run.
    effects:
      'select n + 10 * abs(n - e) from (select count(*) from lockstep.node) x(n), (select count(*) from effect) y(e)',
  },
  'completion of a node': {
    prepare: held,
    run: (db, { leaseId }) => completeNodes(db, [completionOf(leaseId)], { leaseId: mintId(), leaseMs: 1 }),
    effects: "select count(*) from lockstep.node where state = 'done'",
  },
  "completion with the user's rows": {
    prepare: held,
    async run(db, { leaseId }) {
      const tx = await openTransaction(db)
      try {
        await tx.rows('insert into effect values (1)', [])
        await tx.commit(completeCommand(completionOf(leaseId), { leaseId: mintId(), leaseMs: 1 }))
      } catch (error) {
        await tx.rollback()
        throw error
      }
    },
    effects: `select d + 10 * abs(d - e) from (select count(*) from lockstep.node where state = 'done') x(d),
      (select count(*) from effect) y(e)`,
  },
}

export const MORE_RUN_VERBS: Readonly<Record<string, Verb>> = {
  'claim of a node': {
    prepare: async (db) => {
      await submit(db, [runOf('job')])
      return null
    },
    run: claimed,
    effects: 'select count(*) from lockstep.node where lease_id is not null and attempt = 1',
  },
  'failure of a node': {
    prepare: held,
    run: (db, { leaseId }) =>
      failNodes(db, [{ runId: leaseId, ordinal: 0, leaseId: LEASE, error: '{}', retry: false, retryAfterMs: null }]),
    effects: "select count(*) from lockstep.node where state = 'failed'",
  },
}
