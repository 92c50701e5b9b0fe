// Schedules: one run per slot whoever looks and however often, slots that nobody was there for, and schedules that fail.
import assert from 'node:assert/strict'
import test from 'node:test'
import { listSchedules } from '../../src/operations/list-schedules.ts'
import { pauseSchedule } from '../../src/operations/pause-schedule.ts'
import { putSchedule } from '../../src/operations/put-schedule.ts'
import { triggerSchedule } from '../../src/operations/trigger-schedule.ts'
import type { ScheduleDefinition } from '../../src/protocol/schedule.ts'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { fireSchedules } from '../../src/upkeep/fire-schedules.ts'
import { moveClock } from '../kit/clock.ts'

const EVERY_SECOND: ScheduleDefinition = {
  name: 'tick',
  cron: '* * * * * *',
  zone: 'UTC',
  intervalMs: null,
  target: 'sweep',
  input: '{"deep":1}',
  priority: 0,
  misfire: 'all',
  overlap: 'allow',
}

async function register(own: TestDatabase, name = 'sweep'): Promise<void> {
  await own.database.rows('select lockstep.register_workflow($1, $2, $3, $4)', [name, '', 'action', '{}'])
}

async function slotsOf(
  own: TestDatabase,
  name = 'tick',
): Promise<{ due: number; outcome: string; run: string | null }[]> {
  const rows = await own.database.rows(
    'select extract(epoch from due_at)::bigint, outcome, run_id from lockstep.schedule_slot where schedule = $1 order by due_at',
    [name],
  )
  return rows.map((row) => ({ due: Number(row[0]), outcome: row[1] ?? '', run: row[2] ?? null }))
}

const runs = async (own: TestDatabase): Promise<number> =>
  Number((await own.database.rows('select count(*) from lockstep.node where ordinal = 0', []))[0]?.[0])

test('each slot of a minute has exactly one run, though eight schedulers look at once and each registers it anew', async (t) => {
  const own = await createTestDatabase(t, { connections: 8 })
  await register(own)
  const answers = await Promise.all(Array.from({ length: 8 }, () => putSchedule(own.database, EVERY_SECOND)))
  assert.equal(answers.filter((answer) => answer === 'created').length, 1)
  assert.equal(answers.filter((answer) => answer === 'unchanged').length, 7)
  for (let round = 0; round < 12; round += 1) {
    await moveClock(own, 5)
    await Promise.all(Array.from({ length: 8 }, () => fireSchedules().step(own.database)))
  }
  const slots = await slotsOf(own)
  assert.ok(slots.length >= 60, `${slots.length} slots`)
  for (let n = 1; n < slots.length; n += 1) assert.equal(slots[n]?.due, (slots[n - 1]?.due ?? 0) + 1)
  assert.equal(new Set(slots.map((slot) => slot.run)).size, slots.length)
  assert.equal(await runs(own), slots.length)
  const [first] = await own.database.rows(
    'select extract(epoch from n.occurrence)::bigint, n.input from lockstep.node n where n.run_id = $1::uuid',
    [slots[0]?.run ?? ''],
  )
  assert.deepEqual(first, [String(slots[0]?.due), '{"deep":1}'])
})

test('of slots that nobody was there for skip starts none, once the last, all each of them', async (t) => {
  const own = await createTestDatabase(t)
  await register(own)
  for (const misfire of ['skip', 'once', 'all'] as const)
    await putSchedule(own.database, { ...EVERY_SECOND, name: misfire, intervalMs: 600_000, cron: null, misfire })
  await moveClock(own, 6_000 + 300)
  await fireSchedules().step(own.database)
  const fired = async (name: string): Promise<number> =>
    (await slotsOf(own, name)).filter((slot) => slot.outcome === 'fired').length
  assert.deepEqual([await fired('skip'), await fired('once'), await fired('all')], [0, 1, 10])
  assert.equal((await slotsOf(own, 'skip')).filter((slot) => slot.outcome === 'missed').length, 10)
  const last = (await slotsOf(own, 'once')).at(-1)
  assert.equal(last?.outcome, 'fired')
})

test('more missed slots than one commit takes are made up for step by step, none twice', async (t) => {
  const own = await createTestDatabase(t)
  await register(own)
  await putSchedule(own.database, EVERY_SECOND)
  await moveClock(own, 1_200)
  for (let step = 0; step < 4; step += 1) await fireSchedules().step(own.database)
  const slots = await slotsOf(own)
  assert.ok(slots.length >= 1_200, `${slots.length} slots`)
  for (let n = 1; n < slots.length; n += 1) assert.equal(slots[n]?.due, (slots[n - 1]?.due ?? 0) + 1)
  assert.equal(await runs(own), slots.length)
})

test('however many slots were missed, once starts one run for the last of them and skip none', async (t) => {
  const own = await createTestDatabase(t)
  await register(own)
  for (const misfire of ['skip', 'once'] as const)
    await putSchedule(own.database, { ...EVERY_SECOND, name: misfire, intervalMs: 600_000, cron: null, misfire })
  await moveClock(own, 1_200 * 600 + 300)
  let steps = 1
  while ((await fireSchedules().step(own.database)).more) steps += 1
  assert.equal(steps, 3)
  for (const [name, fired] of [
    ['skip', 0],
    ['once', 1],
  ] as const) {
    const slots = await slotsOf(own, name)
    assert.deepEqual([slots.length, slots.filter((slot) => slot.outcome === 'fired').length], [1_200, fired])
    assert.equal(slots.at(-1)?.outcome, fired === 1 ? 'fired' : 'missed')
  }
})

test('schedules that nobody can start do not hold up the others, however many', async (t) => {
  const own = await createTestDatabase(t)
  await register(own, 'known')
  for (let n = 0; n < 60; n += 1)
    await putSchedule(own.database, { ...EVERY_SECOND, name: `broken-${n}`, target: 'unknown' })
  await putSchedule(own.database, { ...EVERY_SECOND, name: 'well', target: 'known' })
  await moveClock(own, 3)
  await assert.rejects(fireSchedules().step(own.database), /no process has registered unknown/)
  assert.ok((await slotsOf(own, 'well')).length >= 3)
})

test('a slot whose run cannot be made stays due and runs when it can; others are not held up', async (t) => {
  const own = await createTestDatabase(t)
  await register(own, 'known')
  await putSchedule(own.database, { ...EVERY_SECOND, name: 'a', target: 'unknown' })
  await putSchedule(own.database, { ...EVERY_SECOND, name: 'b', target: 'known' })
  await moveClock(own, 3)
  await assert.rejects(fireSchedules().step(own.database), /no process has registered unknown/)
  assert.equal((await slotsOf(own, 'a')).length, 0)
  const before = await slotsOf(own, 'b')
  assert.ok(before.length >= 3)
  await register(own, 'unknown')
  await fireSchedules().step(own.database)
  const made = await slotsOf(own, 'a')
  assert.ok(made.length >= 3 && made.every((slot) => slot.outcome === 'fired'))
})

test('while the run before goes on, a schedule that does not overlap leaves its slot out', async (t) => {
  const own = await createTestDatabase(t)
  await register(own)
  await putSchedule(own.database, { ...EVERY_SECOND, overlap: 'skip' })
  await moveClock(own, 3)
  await fireSchedules().step(own.database)
  const outcomes = (await slotsOf(own)).map((slot) => slot.outcome)
  assert.equal(outcomes[0], 'fired')
  assert.ok(outcomes.slice(1).every((outcome) => outcome === 'overlapped'))
  await own.database.pool.query('update lockstep.node set finished_at = lockstep.clock()')
  await moveClock(own, 1)
  await fireSchedules().step(own.database)
  assert.equal((await slotsOf(own)).filter((slot) => slot.outcome === 'fired').length, 2)
})

test('a paused schedule fires nothing, makes up for nothing, and can be started by hand', async (t) => {
  const own = await createTestDatabase(t)
  await register(own)
  await putSchedule(own.database, EVERY_SECOND)
  assert.equal(await pauseSchedule(own.database, 'tick', true), true)
  await moveClock(own, 30)
  await fireSchedules().step(own.database)
  assert.equal((await slotsOf(own)).length, 0)
  assert.match(await triggerSchedule(own.database, 'tick'), /^[0-9a-f-]{36}$/)
  await pauseSchedule(own.database, 'tick', false)
  await moveClock(own, 1)
  await fireSchedules().step(own.database)
  assert.ok((await slotsOf(own)).length <= 2)
  const [shown] = await listSchedules(own.database, 'tick')
  assert.equal(shown?.paused, false)
  assert.equal(shown?.lastSlots.length, (await slotsOf(own)).length)
  assert.equal(await pauseSchedule(own.database, 'none', true), false)
})

test('another rhythm moves the next slot, another input does not', async (t) => {
  const own = await createTestDatabase(t)
  await register(own)
  const daily = { ...EVERY_SECOND, cron: '0 3 * * *' }
  await putSchedule(own.database, daily)
  const next = (await listSchedules(own.database, 'tick'))[0]?.nextAt
  assert.equal(await putSchedule(own.database, { ...daily, input: '{"deep":2}' }), 'changed')
  assert.equal((await listSchedules(own.database, 'tick'))[0]?.nextAt, next)
  assert.equal(await putSchedule(own.database, { ...daily, cron: '0 4 * * *' }), 'changed')
  assert.notEqual((await listSchedules(own.database, 'tick'))[0]?.nextAt, next)
})
