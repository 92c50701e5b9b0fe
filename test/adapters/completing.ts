// The part of the shared suite about completion: a step's own writes and its last statement are committed together or not at
// all, and no library is believed when it calls a rolled-back commit a success.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Door } from '../../src/protocol/completion.ts'
import { sqlstateOf } from '../../src/db/pg-errors.ts'
import { lazily, type LazyTransaction } from '../../src/db/lazily.ts'
import { endBackend } from '../../src/testing/end-backends.ts'
import { backendOf, recovered, type Ground } from './ground.ts'

const LEASE = { timeoutMs: 60_000 }

function finish(step: string, input = 'done ? $2'): (door: Door) => Promise<string | null> {
  return async (door) => door.text('select finish($1::text, $2::text) as r', [step, input])
}

export async function testCompleting<Tx>(t: TestContext, ground: Ground<Tx>): Promise<void> {
  const { subject, lockstep, beside, statuses, finished, texts } = ground
  const step = (): LazyTransaction<Tx> => lazily(subject.completion, LEASE)

  await t.test('rows, pushes and the completion are one commit', async () => {
    const lazy = step()
    const { tx } = await lazy.open()
    await subject.insert(tx, 101n, 'made')
    await lockstep.in(subject.join(tx)).queue('complete').push({ data: 1 })
    assert.deepEqual(await statuses(101n), [])
    assert.equal(await lazy.commit(finish('plain')), 'finished plain')
    assert.deepEqual(await finished('plain'), ['done ? $2'])
    assert.deepEqual(await statuses(101n), ['made'])
    assert.deepEqual(await texts('complete'), ['1'])
  })

  await t.test('a step that is given up leaves nothing', async () => {
    const lazy = step()
    const { tx } = await lazy.open()
    await subject.insert(tx, 102n, 'made')
    await lazy.abort()
    assert.deepEqual(await statuses(102n), [])
    await assert.rejects(lazy.commit(finish('given up')), { code: 'not_a_transaction' })
    assert.deepEqual(await finished('given up'), [])
  })

  await t.test('a swallowed failed statement does not complete', async () => {
    const lazy = step()
    const { tx } = await lazy.open()
    await subject.insert(tx, 103n, 'made')
    await subject.run(tx, 'select 1/0').catch(() => {})
    // postgres.js tells the first error; the others learn of it by the last statement.
    await assert.rejects(lazy.commit(finish('swallowed')), (error) => /^(25P02|22012)$/.test(sqlstateOf(error) ?? ''))
    assert.deepEqual(await statuses(103n), [])
    assert.deepEqual(await finished('swallowed'), [])
  })

  await t.test('a last statement that is refused undoes the step', async () => {
    const lazy = step()
    const { tx } = await lazy.open()
    await subject.insert(tx, 104n, 'made')
    await beside.query(`create or replace function refuse_step() returns text language plpgsql as $$
      begin raise exception using errcode = 'LS404', detail = 'not_found', message = 'there is no such claim'; end $$`)
    await assert.rejects(
      lazy.commit(async (door) => door.text('select refuse_step() as r', [])),
      { code: 'not_found', message: 'there is no such claim' },
    )
    assert.deepEqual(await statuses(104n), [])
  })

  await t.test("the rollback of the library's nested transaction keeps the step", async () => {
    const lazy = step()
    const { tx } = await lazy.open()
    await subject.insert(tx, 105n, 'outer')
    await assert.rejects(
      subject.nested(tx, async (inner) => {
        await subject.insert(inner, 106n, 'inner')
        await subject.run(inner, 'select 1/0')
      }),
    )
    await subject.nested(tx, async (inner) => subject.insert(inner, 107n, 'kept'))
    await lazy.commit(finish('nested'))
    assert.deepEqual(await statuses(105n, 106n, 107n), ['outer', 'kept'])
    assert.deepEqual(await finished('nested'), ['done ? $2'])
  })

  const { hold } = subject
  if (hold !== undefined) {
    await t.test('what the unit of work still holds is written before the completion', async () => {
      const lazy = step()
      hold((await lazy.open()).tx, 108n)
      await lazy.commit(finish('flushed'))
      assert.deepEqual(await statuses(108n), ['held'])
      const late = step()
      hold((await late.open()).tx, 108n)
      await assert.rejects(late.commit(finish('flushed twice')), (error) => sqlstateOf(error) === '23505')
      assert.deepEqual(await finished('flushed twice'), [])
    })
  }

  await t.test('steps at once complete each for itself', async () => {
    await Promise.all(
      Array.from({ length: 6 }, async (_, nth) => {
        const lazy = step()
        const { tx } = await lazy.open()
        await subject.insert(tx, BigInt(120 + nth), `step ${nth}`)
        if (nth % 2 === 0) await lazy.commit(finish(`at once ${nth}`))
        else await lazy.abort()
      }),
    )
    assert.deepEqual(await statuses(120n, 121n, 122n, 123n, 124n, 125n), ['step 0', 'step 2', 'step 4'])
  })

  await t.test('a backend that ends before the completion leaves nothing, and the process lives', async () => {
    const lazy = step()
    const { tx } = await lazy.open()
    await subject.insert(tx, 109n, 'made')
    await endBackend(await backendOf(ground, tx))
    await assert.rejects(lazy.commit(finish('ended before')))
    assert.deepEqual(await statuses(109n), [])
    assert.deepEqual(await finished('ended before'), [])
    await recovered(ground)
  })

  await t.test('a backend that ends between the completion and the COMMIT is no success', async () => {
    const lazy = step()
    const { tx } = await lazy.open()
    await subject.insert(tx, 110n, 'made')
    const pid = await backendOf(ground, tx)
    await assert.rejects(
      lazy.commit(async (door) => {
        await finish('ended after')(door)
        await endBackend(pid)
      }),
    )
    assert.deepEqual(await statuses(110n), [])
    assert.deepEqual(await finished('ended after'), [])
    await recovered(ground)
  })

  await t.test('a constraint that fails at COMMIT is told as what it is', async () => {
    const lazy = step()
    const { tx } = await lazy.open()
    await subject.run(tx, 'insert into line values (1, 999999)')
    await assert.rejects(lazy.commit(finish('deferred')), (error) => sqlstateOf(error) === '23503')
    assert.deepEqual(await finished('deferred'), [])
  })

  await t.test('it reads committed whatever the database would do by default', async () => {
    await beside.query(`alter database ${ground.database.name} set default_transaction_isolation = 'serializable'`)
    try {
      const other = await ground.open()
      try {
        const lazy = lazily(other.completion, LEASE)
        const { door } = await lazy.open()
        assert.equal(await door.text("select current_setting('transaction_isolation') as r", []), 'read committed')
        await lazy.commit(finish('isolation'))
      } finally {
        await other.close()
      }
    } finally {
      await beside.query(`alter database ${ground.database.name} reset default_transaction_isolation`)
    }
  })

  const { patienceMs } = subject
  if (patienceMs !== undefined) {
    await t.test('a step may last longer than the library would wait by itself', async () => {
      const lazy = step()
      const { tx } = await lazy.open()
      await subject.insert(tx, 111n, 'patient')
      await sleep(patienceMs + 300)
      await lazy.commit(finish('patient'))
      assert.deepEqual(await statuses(111n), ['patient'])
      const hasty = lazily(subject.completion, { timeoutMs: 100 })
      await subject.insert((await hasty.open()).tx, 112n, 'hasty')
      await sleep(300)
      await assert.rejects(hasty.commit(finish('hasty')))
      assert.deepEqual(await statuses(112n), [])
    })
  }
}
