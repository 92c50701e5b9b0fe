// Schedules on both ways: declared with an input of their target's type, listed, looked at ahead, paused, started by hand and
// removed; and the instant of the slot, which reaches the handler.
import assert from 'node:assert/strict'
import { action, Lockstep, schedule, workflow } from 'lockstep'
import { z } from 'zod'
import { fireSchedules } from '../../src/upkeep/fire-schedules.ts'
import { openDatabase } from '../../src/db/pool.ts'
import { onEveryWay, type Case } from './every-way.ts'

const Sweep = z.object({ deep: z.boolean() })

/** What handlers were given, by name. */
type Seen = Record<string, string | null>

function definitions(named: Case['named'], seen: Seen = {}) {
  const sweep = action({ name: named('sweep'), input: Sweep, priority: 7 }, (ctx, { deep }) => {
    seen[ctx.node === named('sweep') ? 'job' : ctx.node] = ctx.occurrence
    return { deep }
  })
  const graph = workflow({ name: named('graph'), input: Sweep })
    .node('first', sweep, ({ input }) => input)
    .node('second', sweep, ({ outputs }) => outputs.first, { after: ['first'] })
  const code = workflow({ name: named('code'), input: Sweep }, async (ctx, input) => {
    seen['code'] = ctx.occurrence
    await ctx.call('called', sweep, input)
    return ctx.occurrence
  })
  return { sweep, graph, code }
}

onEveryWay('a schedule is put once, listed, paused, resumed and deleted', async ({ lockstep, named }) => {
  const { sweep } = definitions(named)
  const nightly = schedule({
    name: named('nightly/ü'),
    cron: '30 2 * * *',
    zone: 'Europe/Rome',
    target: sweep,
    input: { deep: true },
    overlap: 'skip',
  })
  assert.equal(await lockstep.schedules.put(nightly), 'created')
  assert.equal(await lockstep.schedules.put(nightly), 'unchanged')
  assert.equal(await lockstep.schedules.put({ ...nightly, misfire: 'all' }), 'changed')
  const shown = await lockstep.schedules.get(nightly)
  assert.ok(shown !== null)
  const { nextAt, ...rest } = shown
  assert.match(nextAt ?? '', /T0[01]:30:00\.000000Z$/)
  assert.deepEqual(rest, {
    name: named('nightly/ü'),
    cron: '30 2 * * *',
    zone: 'Europe/Rome',
    intervalMs: null,
    target: named('sweep'),
    input: { deep: true },
    priority: 7,
    misfire: 'all',
    overlap: 'skip',
    paused: false,
    lastRun: null,
    lastSlots: [],
  })
  assert.deepEqual(
    (await lockstep.schedules.list()).filter((one) => one.name === nightly.name),
    [shown],
  )
  assert.equal(await lockstep.schedules.pause(nightly), true)
  assert.equal((await lockstep.schedules.get(nightly.name))?.paused, true)
  assert.equal(await lockstep.schedules.resume(nightly.name), true)
  assert.equal((await lockstep.schedules.get(nightly))?.paused, false)
  assert.equal(await lockstep.schedules.delete(nightly), true)
  assert.equal(await lockstep.schedules.delete(nightly), false)
  assert.equal(await lockstep.schedules.pause(nightly), false)
  assert.equal(await lockstep.schedules.get(nightly), null)
})

onEveryWay('what cannot be meant is refused with the field that is wrong', async ({ lockstep, named }) => {
  const { sweep } = definitions(named)
  const right = { name: named('s'), target: sweep, input: { deep: true } }
  assert.throws(() => schedule({ ...right }), /cron must be given/)
  assert.throws(() => schedule({ ...right, cron: '* * * * *', every: '1m' }), /cron must be given/)
  assert.throws(() => schedule({ ...right, every: '5ms' }), /every must be/)
  await assert.rejects(lockstep.schedules.put({ ...right, cron: 'never' }), /cron must be a cron expression/)
  await assert.rejects(lockstep.schedules.put({ ...right, cron: '* * * * *', zone: 'Mars' }), /zone must be an IANA/)
  // @ts-expect-error an input of another type
  const wrong = { ...right, cron: '* * * * *', input: { deep: 'yes' } } satisfies Parameters<
    typeof schedule<string, { deep: boolean }, unknown>
  >[0]
  // @ts-expect-error the same, told by the schema at run time
  await assert.rejects(lockstep.schedules.put(wrong), { code: 'invalid_payload' })
  // @ts-expect-error the misspelt policy
  await assert.rejects(lockstep.schedules.put({ ...right, every: '1m', misfire: 'never' }), /misfire must be/)
  await assert.rejects(lockstep.schedules.trigger(named('absent')), { code: 'not_found' })
  assert.deepEqual(await lockstep.schedules.list().then((all) => all.filter((one) => one.name === right.name)), [])
})

onEveryWay('the next slots are shown by the clock of the database', async ({ lockstep, sql }) => {
  const slots = await lockstep.schedules.preview({ cron: '0 6 * * *', zone: 'America/New_York' }, { count: 4 })
  assert.equal(slots.length, 4)
  const [{ now } = { now: '' }] = await sql('select lockstep.instant_text(lockstep.clock()) as now')
  assert.ok(String(now) < (slots[0] ?? ''))
  for (const slot of slots) assert.match(slot, /T1[01]:00:00\.000Z$/)
  assert.equal((await lockstep.schedules.preview({ every: '90m' })).length, 10)
  await assert.rejects(lockstep.schedules.preview({ every: '90m' }, { count: 100_000 }), /count must be/)
})

onEveryWay('a slot hands its instant to jobs, nodes of graphs, code and what it calls', async (c) => {
  const { lockstep, named, sql } = c
  const seen: Seen = {}
  const { sweep, graph, code } = definitions(named, seen)
  const beside = new Lockstep({ connectionString: c.connectionString, upkeep: false, logger: { warn() {} } })
  const database = openDatabase({ connectionString: c.connectionString })
  try {
    const worker = beside.worker({ actions: [sweep], workflows: [graph, code], poll: '20ms' })
    await worker.start()
    const daily = { cron: '0 3 * * *', input: { deep: true } }
    await lockstep.schedules.put({ ...daily, name: sweep.name, target: sweep })
    await lockstep.schedules.put({ ...daily, name: graph.name, target: graph })
    await lockstep.schedules.put({ ...daily, name: code.name, target: code.name })
    await sql(
      "update lockstep.schedule set next_at = date_trunc('second', lockstep.clock()) - interval '5 seconds' where name = any ($1)",
      [[sweep.name, graph.name, code.name]],
    )
    await fireSchedules().step(database)
    for (const { name } of [sweep, graph, code]) {
      const [slot] = (await lockstep.schedules.get(name))?.lastSlots ?? []
      assert.equal(slot?.outcome, 'fired')
      const handle = lockstep.run(slot.runId ?? '')
      const { state, occurrence } = await handle.wait({ timeout: '20s' })
      assert.deepEqual([state, occurrence], ['completed', slot.dueAt])
      const at = name === sweep.name ? ['job'] : name === graph.name ? ['first', 'second'] : ['code', 'called']
      for (const place of at) assert.equal(seen[place], slot.dueAt, place)
      if (name === code.name) assert.equal(await handle.result(), slot.dueAt)
    }
    const declared = schedule({ name: sweep.name, cron: '0 3 * * *', target: sweep, input: { deep: true } })
    const run = await lockstep.schedules.trigger(declared)
    const { deep }: { deep: boolean } = await run.result({ timeout: '20s' })
    assert.equal(deep, true)
    assert.notEqual(seen['job'], null)
    const own = await sweep.enqueue(beside, { deep: false })
    assert.equal((await own.wait({ timeout: '20s' })).occurrence, null)
    assert.equal(seen['job'], null)
  } finally {
    await beside.close({ timeoutMs: 1_000 })
    await database.close()
  }
})
