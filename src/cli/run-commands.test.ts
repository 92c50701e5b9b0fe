import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Client } from 'pg'
import { createTestDatabase } from '../testing/database.ts'
import { fault, parsed, run, type Ended } from '../testing/run-program.ts'

const lockstepAt =
  (url: string) =>
  (...words: string[]): Promise<Ended> =>
    run(words, { env: { DATABASE_URL: url } })

describe('run list, show, cancel, retry, signal and tail', () => {
  it('follow a job from its submission in psql to its cancellation and back', async (t) => {
    const own = await createTestDatabase(t)
    const lockstep = lockstepAt(own.connectionString)
    assert.match((await lockstep('run', 'list')).out, /There is no such run/)
    const client = new Client({ connectionString: own.connectionString })
    await client.connect()
    const made = await client.query(
      `select run_id from lockstep.enqueue('charge', '{"paymentId":1}', p_tags => '{vip}')`,
    )
    await client.end()
    const id = String(made.rows[0].run_id)

    const { runs } = parsed(await lockstep('run', 'list', 'charge', '--tag', 'vip', '--json'))
    assert.ok(Array.isArray(runs))
    assert.deepEqual([runs.length, runs[0].runId, runs[0].state], [1, id, 'pending'])
    assert.match((await lockstep('run', 'list', '--state', 'failed')).out, /There is no such run/)
    assert.match((await lockstep('run', 'show', id)).out, new RegExp(`charge ${id}: pending`))

    assert.equal((await lockstep('run', 'retry', id)).status, 1)
    assert.equal((await lockstep('run', 'signal', id, 'approval', '{"by":"ada"}')).status, 0)
    assert.match((await lockstep('run', 'cancel', id, '--reason', 'twice')).out, /is cancelled/)
    assert.equal((await lockstep('run', 'cancel', id)).status, 0)
    const tailed = await lockstep('run', 'tail', id)
    assert.equal(tailed.status, 1)
    assert.match(tailed.out, /charge: cancelled .*twice/)
    assert.match((await lockstep('run', 'signal', id, 'approval')).out, /has ended \(cancelled\)/)
    assert.match((await lockstep('run', 'retry', id)).out, /runs again/)
    assert.equal(parsed(await lockstep('run', 'show', id, '--json'))['state'], 'pending')
    await own.database.rows(
      "update lockstep.node set state = 'done', finished_at = lockstep.clock(), available_at = null where run_id = $1::uuid",
      [id],
    )
    assert.match((await lockstep('run', 'signal', id, 'approval')).out, /has ended \(completed\)/)
    assert.equal(parsed(await lockstep('run', 'cancel', id, '--json'))['state'], 'completed')
  })

  it('tell what code has done and waits for, the slot it was started for, and errors in words', async (t) => {
    const own = await createTestDatabase(t)
    const lockstep = lockstepAt(own.connectionString)
    const id = '01a227d9-6709-7029-9680-345d117a9c71'
    const child = '01a227d9-6709-8029-8680-345d117a9c71'
    const error = { code: 'node_failed', message: 'node a failed', cause: { code: 'E1', message: 'no\u009b2J stock' } }
    await own.database.rows(
      `insert into lockstep.node (run_id, ordinal, name, kind, state, want, created_at, workflow, output, error, occurrence)
       values ($1::uuid, 0, 'review', 'flow', 'sleeping', 'flow:review', lockstep.clock(), 'review', '{"big":9007199254740993}', $2,
               '2026-03-01T02:30:00Z')`,
      [id, JSON.stringify(error)],
    )
    await own.database.rows(
      `insert into lockstep.step (run_id, name, state, output, due_at, created_at)
       select $1::uuid, s.name, s.state, s.output, s.due::timestamptz, lockstep.clock() + s.nth * interval '1 second'
         from (values (1, 'begin', 'done', '"began"', null), (2, 'rest', 'sleeping', null, '2020-01-01T00:00:00Z'),
                      (3, 'pay', 'failed', $2, null), (4, 'ship', 'called', $3, null),
                      (5, 'approve', 'waiting', null, '2999-01-01T00:00:00Z')) s(nth, name, state, output, due)`,
      [id, JSON.stringify(error), child],
    )
    const { out } = await lockstep('run', 'show', id)
    assert.match(out, /for the slot 2026-03-01T02:30:00\.000000Z/)
    assert.match(out, /^error node a failed: no\\u009b2J stock \(E1\)$/m)
    assert.match(
      out,
      /^begin +done .*\nrest +slept .*\npay +failed .*no\\u009b2J.*\n.*ship +called .*run 01a2.*\napprove +waiting .*until 2999-/m,
    )
    const shown = await lockstep('run', 'show', id, '--json')
    assert.match(shown.out, /"output":{"big":9007199254740993}/)
    const { steps, occurrence, error: told } = parsed(shown)
    assert.ok(Array.isArray(steps))
    assert.equal(occurrence, '2026-03-01T02:30:00.000000Z')
    assert.deepEqual(told, error)
    assert.deepEqual(
      steps.map((step) => [step.name, step.state, step.output, step.error, step.child]),
      [
        ['begin', 'done', 'began', null, null],
        ['rest', 'sleeping', null, null, null],
        ['pay', 'failed', null, error, null],
        ['ship', 'called', null, null, child],
        ['approve', 'waiting', null, null, null],
      ],
    )
    await lockstep('run', 'cancel', id)
    const tailed = await lockstep('run', 'tail', id)
    assert.match(tailed.out, /^rest: slept$/m)
    assert.match(tailed.out, /^review: cancelled the run was cancelled$/m)
    const { runs } = parsed(await lockstep('run', 'list', 'review', '--json'))
    assert.ok(Array.isArray(runs))
    assert.equal(runs[0].error.code, 'cancelled')
  })

  it('name a run that is not there and an id that is none', async (t) => {
    const own = await createTestDatabase(t)
    const lockstep = lockstepAt(own.connectionString)
    const missing = await lockstep('run', 'show', '01a227d9-6709-7029-9680-345d117a9c71', '--json')
    assert.equal(missing.status, 1)
    assert.equal(fault(missing).code, 'not_found')
    const wrong = await lockstep('run', 'cancel', 'x')
    assert.equal(wrong.status, 2)
    assert.match(wrong.err, /'x' is no id of a run/)
  })
})

describe('schedule put, list, preview, pause, resume, trigger and delete', () => {
  it('make a schedule, start it by hand, stop it and remove it', async (t) => {
    const own = await createTestDatabase(t)
    const lockstep = lockstepAt(own.connectionString)
    assert.match((await lockstep('schedule', 'list')).out, /There is no schedule/)
    const put = ['schedule', 'put', 'nightly', 'sweep', '--cron', '30 2 * * *', '--zone', 'Europe/Rome']
    assert.match((await lockstep(...put)).out, /nightly is created/)
    assert.match((await lockstep(...put)).out, /nightly is unchanged/)
    assert.match((await lockstep('schedule', 'list')).out, /nightly +30 2 \* \* \* +Europe\/Rome +sweep/)

    const early = await lockstep('schedule', 'trigger', 'nightly')
    assert.equal(early.status, 1)
    assert.match(early.err, /no process has registered sweep/)
    await own.database.rows(`select lockstep.register_workflow('sweep', '', 'action', '{}')`, [])
    assert.match(String(parsed(await lockstep('schedule', 'trigger', 'nightly', '--json'))['runId']), /^[0-9a-f-]{36}$/)
    assert.match((await lockstep('run', 'list', 'sweep')).out, /schedule:nightly/)

    assert.match((await lockstep('schedule', 'pause', 'nightly')).out, /is paused/)
    assert.match((await lockstep('schedule', 'list')).out, /paused/)
    assert.match((await lockstep('schedule', 'resume', 'nightly')).out, /fires again/)
    assert.equal((await lockstep('schedule', 'delete', 'nightly')).status, 0)
    assert.equal((await lockstep('schedule', 'delete', 'nightly')).status, 1)
  })

  it('show the next slots without a database and refuse what is no rhythm', async () => {
    const lockstep = lockstepAt('')
    const { slots } = parsed(await lockstep('schedule', 'preview', '--every', '60', '--count', '3', '--json'))
    assert.ok(Array.isArray(slots))
    assert.equal(slots.length, 3)
    const wrong = await lockstep('schedule', 'preview', '--cron', '70 2 * * *')
    assert.match(wrong.err, /cron must be a cron expression/)
    assert.match((await lockstep('schedule', 'preview', '--cron', '* * * * *', '--zone', 'Mars')).err, /IANA time zone/)
  })
})
