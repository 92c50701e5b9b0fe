// Every pair of verbs about runs and schedules at once in one world, and each of them beside a push and a transaction: no deadlock
// is broken, every law of runs holds, and whatever was left then comes to an end.
import assert from 'node:assert/strict'
import test from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import type { Outcome } from '../kit/actor.ts'
import { endActors, inTransaction, interleave, openActors, type Specification } from '../kit/interleave.ts'
import { assertRunsSound } from '../kit/run-soundness.ts'
import { RUN_VERBS, type RunVerb } from '../kit/run-verbs.ts'
import { makeRunWorld, settleRuns, type RunWorld } from '../kit/run-world.ts'
import { assertSound, deadlocks } from '../kit/soundness.ts'
import { inTurn, sets } from '../kit/verb-specification.ts'
import { makeWorld, VERBS, type World } from '../kit/verbs.ts'

const LONG = process.env['LOCKSTEP_LONG'] === '1'
const NEWEST = 18

/** Answers that a verb gives as an error: a claim that was lost, a schedule that is gone. */
const ANSWERS: ReadonlySet<string> = new Set(['LS423', 'LS404'])

interface Both {
  readonly runs: RunWorld
  readonly queue: World | null
}

function assertNobodyFailed(names: readonly string[], told: readonly (readonly Outcome[])[]): void {
  for (const [at, [work, commit]] of told.entries()) {
    if (work === undefined) throw new Error(`${names[at]} was not run`)
    if ('error' in work) assert.ok(ANSWERS.has(work.error), `${names[at]} failed: ${work.error}`)
    else assert.ok(commit !== undefined && 'value' in commit, `${names[at]} did not commit`)
  }
}

const TABLES = ['node', 'run_key', 'step', 'signal', 'run_limit', 'schedule', 'schedule_slot', 'workflow_version'].map(
  (table) => `lockstep.${table}`,
)
let forgotten = 0

/** Or the next world's laws would look at all that is over; and now and then at all that is deleted. */
async function forget({ database }: TestDatabase): Promise<void> {
  forgotten += 1
  const emptying = forgotten % 40 === 0
  await database.pool.query(
    emptying ? `truncate ${TABLES.join(', ')}` : TABLES.map((table) => `delete from ${table}`).join('; '),
  )
}

async function check(own: TestDatabase, { runs, queue }: Both): Promise<void> {
  const { pool } = own.database
  await assertRunsSound(own)
  if (queue !== null) await assertSound(own, queue.queue)
  else {
    await settleRuns(own, runs)
    const left = await pool.query('select * from lockstep.node where finished_at is null')
    assert.deepEqual(left.rows, [], 'something waits for ever')
  }
  await forget(own)
}

/** Who was told that a run goes on has a run. */
async function assertTold(
  own: TestDatabase,
  names: readonly string[],
  told: readonly (readonly Outcome[])[],
  { failed }: RunWorld,
): Promise<void> {
  const retried = told.some(([work], at) => {
    return names[at] === 'retry of a failed run' && work !== undefined && 'value' in work && work.value === 'running'
  })
  if (!retried) return
  const { rowCount } = await own.database.pool.query('select 1 from lockstep.node where run_id = $1', [failed])
  assert.equal(rowCount, 1, 'a run that was said to run again is gone')
}

const found = (name: string): RunVerb => {
  const verb = RUN_VERBS[name]
  if (verb === undefined) throw new Error(`no verb ${name}`)
  return verb
}

function specification(names: readonly string[]): Specification<Both> {
  const beside = names.map((name) => VERBS[name])
  return {
    name: names.join(' | '),
    setup: async (own, nth) => ({
      runs: await makeRunWorld(own, nth),
      queue: beside.some((verb) => verb !== undefined) ? await makeWorld(own, nth) : null,
    }),
    sessions: names.map((name, at) => {
      const verb = beside[at]
      return inTransaction<Both>(async (actor, { runs, queue }) =>
        verb !== undefined && queue !== null ? verb(actor, queue) : found(name)(actor, runs),
      )
    }),
    async check(world, told, own) {
      assertNobodyFailed(names, told)
      await assertTold(own, names, told, world.runs)
      await check(own, world)
    },
  }
}

const first = (order: readonly number[]): boolean => inTurn(order) && order[0] === 0
const all = Object.keys(RUN_VERBS)
const pairs = sets(all, 2)

async function isOld({ database }: TestDatabase): Promise<boolean> {
  const [row] = await database.reader.rows(`select current_setting('server_version_num')::int / 10000`, [])
  return Number(row?.[0]) < NEWEST
}

/** A few databases for all: a pair needs a world of its own, not more. */
const CHUNK = 8

for (let at = 0; at < all.length; at += CHUNK) {
  const ones = all.slice(at, at + CHUNK)
  void test(`each of ${ones.join(', ')} beside every later verb of runs, and beside a push and a transaction`, async (t) => {
    const own = await createTestDatabase(t)
    const beside = ones.flatMap((one) => ['push to both partitions', 'transaction'].map((name) => [one, name]))
    const chosen = [...pairs.filter(([name = '']) => ones.includes(name)), ...beside]
    // On older servers each verb beside itself tells what is told there at all.
    const wanted = !LONG && (await isOld(own)) ? chosen.filter(([a, b]) => a === b) : chosen
    const actors = await openActors(own, 2)
    for (const names of wanted) await interleave(own, specification(names), LONG ? inTurn : first, actors)
    await endActors(actors)
    assert.equal(await deadlocks(own), 0)
  })
}
