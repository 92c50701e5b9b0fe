// What a look for due work costs is bounded by what is due, not by what is waiting or dead: read off the plan and its buffers,
// not off a clock. And the clock that judges a lease is read once its row is held.
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Executor } from '../../src/db/executor.ts'
import { ack } from '../../src/operations/ack.ts'
import { extend } from '../../src/operations/extend.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { transaction } from '../../src/operations/transaction.ts'
import type { Delivery } from '../../src/protocol/message.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { openActor, type Actor } from '../kit/actor.ts'
import { makeClockMovable, moveClock } from '../kit/clock.ts'
import { quiet } from '../kit/quiet.ts'
import { ackOf, item, popOf, stepOf } from '../kit/speech.ts'

interface Plan {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly Plan[]
}

// The statement as the function holds it, prepared with the function's settings, planned once for all parameters.
async function prepareClaim(actor: Actor): Promise<void> {
  const [row] = await actor.sql(
    `select prosrc, array_to_string(proconfig, ';') from pg_proc where proname = '_claimable'`,
  )
  const body = /select \* from lane l(?:(?!;)[\s\S])*?limit p_limit(?:(?!;)[\s\S])*?skip locked/.exec(
    row?.[0] ?? '',
  )?.[0]
  assert.ok(body, 'the claim is not where it was')
  const names = ['p_queue_id', 'p_group_id', 'p_floor', 'p_now', 'p_limit']
  const statement = names.reduce((text, name, at) => text.replaceAll(name, `$${at + 1}`), body)
  await actor.sql('set search_path = pg_catalog, lockstep')
  await actor.sql('set plan_cache_mode = force_generic_plan')
  for (const setting of row?.[1]?.split(';').filter((text) => text.startsWith('enable_')) ?? [])
    await actor.sql(`set ${setting}`)
  await actor.sql(`prepare claim(int, int, timestamptz, timestamptz, int) as ${statement}`)
}

async function explain(actor: Actor, floor: string): Promise<Plan> {
  await actor.sql('begin')
  const [now] = await actor.sql('select lockstep.clock()')
  const [row] = await actor.sql(
    `explain (analyze, buffers, format json) execute claim(1, 1, '${floor}', '${now?.[0] ?? ''}', 10)`,
  )
  await actor.sql('rollback')
  const parsed: readonly { readonly Plan: Plan }[] = JSON.parse(row?.[0] ?? '[]')
  const plan = parsed[0]?.Plan
  assert.ok(plan)
  return plan
}

function nodes(plan: Plan): readonly Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap((child) => nodes(child))]
}

const blocks = (plan: Plan): number => (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)

test('the claim reads the range from the floor to now off the index of due lanes', async (t) => {
  const own = await createTestDatabase(t)
  const actor = await openActor(own, 'explainer')
  await prepareClaim(actor)
  const scan = nodes(await explain(actor, '-infinity')).find((node) => node['Index Name'] === 'lane_due')
  assert.ok(scan, 'the index lane_due is not used')
  assert.match(scan['Index Cond'] ?? '', /available_at >= \$3/)
  assert.match(scan['Index Cond'] ?? '', /available_at <= \$4/)
})

test('a pop that finds nothing due reads none of the lanes that are leased or waiting', async (t) => {
  const own = await createTestDatabase(t)
  const actor = await openActor(own, 'explainer')
  const names = Array.from({ length: 1000 }, (_, at) => `p${at}`)
  await push(
    own.database,
    names.map((name) => item('q', name, 'm')),
  )
  for (let idle = false; !idle;) {
    const { answers, again } = await pop(
      own.database,
      popOf('q', 'g', { partitions: 1000, batch: 1000, leaseSeconds: 604_800 }),
    )
    idle = again === 'no' && answers.flat().length === 0
  }
  await prepareClaim(actor)
  // Entries that the leasing left dead are passed by once more each time, until no snapshot can see them.
  let least = Number.POSITIVE_INFINITY
  for (let look = 0; look < 10 && least >= 20; look += 1)
    least = Math.min(least, blocks(await explain(actor, '-infinity')))
  assert.ok(least < 20, `${least} blocks`)
})

test('with an old snapshot open the cost of a claim from the floor stays flat, while that from the beginning grows', async (t) => {
  const own = await createTestDatabase(t)
  const [pin, explainer] = [await openActor(own, 'pin'), await openActor(own, 'explainer')]
  const names = Array.from({ length: 100 }, (_, at) => `p${at}`)
  const fill = (): Promise<unknown> =>
    push(
      own.database,
      names.map((name) => item('q', name, null)),
    )
  await fill()
  await prepareClaim(explainer)
  await pin.sql('begin isolation level repeatable read')
  await pin.sql('select count(*) from lockstep.lane')

  let floor: string | null = null
  // Between the rounds the clock moves past the second by which a floor lies behind.
  async function cycles(count: number): Promise<void> {
    for (let nth = 0; nth < count; nth++) {
      await fill()
      const outcome = await pop(own.database, popOf('q', 'g', { partitions: 100, batch: 1000, floor }))
      floor = outcome.floor
      const answers = await ack(own.database, [outcome.answers.flat().map((one) => ackOf(one))])
      assert.ok(answers.flat().every((one) => one.success))
      await moveClock(own, 2)
    }
  }
  const cost = async (from: string): Promise<number> => blocks(await explain(explainer, from))
  const floorNow = (): string => (floor ?? '').split('|')[0] ?? ''
  await cycles(10)
  const [early, earlyAll] = [await cost(floorNow()), await cost('-infinity')]
  await cycles(50)
  const [late, lateAll] = [await cost(floorNow()), await cost('-infinity')]
  assert.ok(lateAll > 3 * earlyAll, `from the beginning: ${earlyAll} then ${lateAll} blocks`)
  assert.ok(late < 2 * early + 20, `from the floor: ${early} then ${late} blocks, from the beginning ${lateAll}`)
})

const LATE: Readonly<Record<string, (db: Executor, leased: Delivery) => Promise<boolean>>> = {
  ack: async (db, one) => (await ack(db, [[ackOf(one)]]))[0]?.[0]?.success ?? true,
  extend: async (db, one) => (await extend(db, one.leaseId, 600)).renewed > 0,
  transaction: async (db, one) => {
    const [result] = await transaction(db, [stepOf({ acks: [ackOf(one)], pushes: [item('q', 'out', 'x')] })])
    return result === undefined || result === 'deferred' || result.success
  },
}

for (const [verb, attempt] of Object.entries(LATE))
  test(`${verb}: a lease that ends while its lane's lock is waited for is lost`, async (t) => {
    const own = await createTestDatabase(t)
    await makeClockMovable(own)
    await push(own.database, [item('q', 'p', 'm')])
    const [one] = (await pop(own.database, popOf('q', 'g', { leaseSeconds: 30 }))).answers.flat()
    assert.ok(one)
    const holder = await openActor(own, 'holder')
    await holder.sql('begin')
    await holder.sql('select * from lockstep.lane for update')
    const actor = await openActor(own, 'late')
    const end = actor.hand(() => attempt(actor.db, one))
    assert.deepEqual(await quiet(own, [actor]), [actor])
    await moveClock(own, 31)
    await holder.sql('commit')
    assert.deepEqual(await end, { value: false })
    const outputs = await own.database.reader.rows(`select * from lockstep.message where transaction_id = 'x'`, [])
    assert.deepEqual(outputs, [])
    const [again] = (await pop(own.database, popOf('q', 'g'))).answers.flat()
    assert.equal(again?.transactionId, 'm')
  })
