// Code that lets go of its worker while what it waits for comes to its end: whoever is last sees the other, so that the code is
// due, in every order of the two.
import assert from 'node:assert/strict'
import test from 'node:test'
import { callNode } from '../../src/operations/call-node.ts'
import { cancelRun } from '../../src/operations/cancel-run.ts'
import { claim } from '../../src/operations/claim.ts'
import { completeNodes } from '../../src/operations/complete-nodes.ts'
import { failNodes } from '../../src/operations/fail-nodes.ts'
import { signalRun } from '../../src/operations/signal-run.ts'
import { startChild } from '../../src/operations/start-child.ts'
import { submit } from '../../src/operations/submit.ts'
import { suspend } from '../../src/operations/suspend.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { inTransaction, interleave, type Step } from '../kit/interleave.ts'
import { runOf } from '../kit/run-world.ts'
import { deadlocks } from '../kit/soundness.ts'

interface Awaiting {
  readonly code: string
  readonly child: string
  readonly leaseId: string
}

const TAKE = { leaseMs: 600_000 }

async function awaiting({ database }: TestDatabase, nth: number): Promise<Awaiting> {
  const name = `a${nth}`
  const leaseId = mintId()
  const code = runOf(`${name}-code`, { kind: 'code', version: '' })
  await database.rows(`select lockstep.register_workflow($1, '', 'code', '{}')`, [code.workflow])
  await submit(database, [code])
  await claim(database, { wants: [`flow:${code.workflow}`], leaseId, ...TAKE, max: 1, floor: null })
  const child = runOf(name)
  await startChild(database, code.runId, leaseId, 'child', child)
  await callNode(database, code.runId, leaseId, {
    ...child,
    name: 'call',
    action: name,
    maxAttempts: 1,
    backoffMs: 1,
    backoffMaxMs: 1,
    delayMs: 0,
  })
  const { nodes } = await claim(database, { wants: [name], leaseId, ...TAKE, max: 9, floor: null })
  assert.equal(nodes.length, 2)
  return { code: code.runId, child: child.runId, leaseId }
}

const letsGo: Step<Awaiting> = ({ db }, { code, child, leaseId }) =>
  suspend(db, code, leaseId, {
    sleeps: [],
    signals: [{ step: 'heard', signal: 's', timeoutMs: null }],
    called: [1],
    children: [child],
  })

const ENDS: Readonly<Record<string, Step<Awaiting>>> = {
  'a child completes': ({ db }, { child, leaseId }) =>
    completeNodes(db, [{ runId: child, ordinal: 0, leaseId, output: '1', plans: [] }], { leaseId: mintId(), ...TAKE }),
  'a child fails': ({ db }, { child, leaseId }) =>
    failNodes(db, [{ runId: child, ordinal: 0, leaseId, error: '{}', retry: false, retryAfterMs: null }]),
  'a child is cancelled': ({ db }, { child }) => cancelRun(db, child, null),
  'a call completes': ({ db }, { code, leaseId }) =>
    completeNodes(db, [{ runId: code, ordinal: 1, leaseId, output: '1', plans: [] }], { leaseId: mintId(), ...TAKE }),
  'a call fails': ({ db }, { code, leaseId }) =>
    failNodes(db, [{ runId: code, ordinal: 1, leaseId, error: '{}', retry: false, retryAfterMs: null }]),
  'a signal comes': ({ db }, { code }) => signalRun(db, code, 's', '1'),
}

test('code that lets go is due once what it waits for is there, whoever came first', async (t) => {
  const own = await createTestDatabase(t)
  for (const [name, end] of Object.entries(ENDS)) {
    await interleave<Awaiting>(own, {
      name,
      setup: awaiting,
      sessions: [inTransaction(letsGo), inTransaction(end)],
      async check({ code }, told) {
        for (const outcome of told.flat()) assert.ok('value' in outcome, JSON.stringify(outcome))
        const { rows } = await own.database.pool.query(
          'select state, available_at <= lockstep.clock() as due from lockstep.node where run_id = $1 and ordinal = 0',
          [code],
        )
        assert.deepEqual(rows, [{ state: 'sleeping', due: true }])
      },
    })
  }
  assert.equal(await deadlocks(own), 0)
})
