// The part of the shared suite about `in(tx)`: what is said through a library's open transaction stands and falls with it.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { foreignDoor } from '../../src/db/foreign-door.ts'
import { LockstepError } from '../../src/protocol/errors.ts'
import { endBackend } from '../../src/testing/end-backends.ts'
import { until } from '../conformance/until.ts'
import { backendOf, recovered, type Ground } from './ground.ts'

/** Everything that a library could re-read, re-number or re-escape on its way. */
const HARD =
  '{"big":9007199254740993,"ask":"what? ?? $1 $2 \\\\? :name @p","nul":"\\u0000","half":"\\ud800","quote":"it\'s \\"so\\""}'

export async function testJoining<Tx>(t: TestContext, ground: Ground<Tx>): Promise<void> {
  const { subject, lockstep, statuses, texts, committed } = ground

  await t.test('a commit makes the push, the state and the row stand; nobody sees them before', async () => {
    await subject.transaction(async (tx) => {
      await subject.insert(tx, 1n, 'made')
      const [pushed] = await lockstep
        .in(subject.join(tx))
        .queue('commit')
        .push([{ data: 1 }, { data: 2 }])
      assert.equal(pushed?.status, 'queued')
      const put = await lockstep.in(subject.join(tx)).kv.put('o', 'commit', { n: 1 }, { ttl: '1d' })
      assert.equal(put.applied, true)
      assert.deepEqual((await lockstep.in(subject.join(tx)).kv.get('o', 'commit')).value, { n: 1 })
      assert.deepEqual(await committed('commit'), [])
      assert.equal((await lockstep.kv.get('o', 'commit')).found, false)
    })
    assert.deepEqual(await statuses(1n), ['made'])
    assert.deepEqual(await texts('commit'), ['1', '2'])
    assert.deepEqual((await lockstep.kv.get('o', 'commit')).value, { n: 1 })
  })

  await t.test('a rollback leaves nothing', async () => {
    const why = new Error('changed my mind')
    await assert.rejects(
      subject.transaction(async (tx) => {
        await subject.insert(tx, 2n, 'made')
        await lockstep.in(subject.join(tx)).queue('rollback').push({ data: 1 })
        await lockstep.in(subject.join(tx)).kv.put('o', 'rollback', 1, { ttl: '1d' })
        throw why
      }),
      why,
    )
    assert.deepEqual(await statuses(2n), [])
    assert.deepEqual(await committed('rollback'), [])
    assert.equal((await lockstep.kv.get('o', 'rollback')).found, false)
  })

  await t.test("the rollback of the library's nested transaction undoes what was said in it, and no more", async () => {
    await subject.transaction(async (tx) => {
      await lockstep.in(subject.join(tx)).queue('nested').push({ data: 'before' })
      await assert.rejects(
        subject.nested(tx, async (inner) => {
          await subject.insert(inner, 3n, 'made')
          await lockstep.in(subject.join(inner)).queue('nested').push({ data: 'inside' })
          throw new Error('undo')
        }),
        /undo/,
      )
      await subject.nested(tx, async (inner) => {
        await lockstep.in(subject.join(inner)).queue('nested').push({ data: 'kept' })
      })
      await lockstep.in(subject.join(tx)).queue('nested').push({ data: 'after' })
    })
    assert.deepEqual(await texts('nested'), ['"before"', '"kept"', '"after"'])
    assert.deepEqual(await statuses(3n), [])
  })

  await t.test('a payload of hard texts comes out as its bytes went in', async () => {
    await subject.transaction(async (tx) => {
      await subject.completion
        .door(tx)
        .text(
          'select lockstep.stage(array[$1::text], array[$2::text], array[$3::text], array[$4::text], array[null], array[null], array[lockstep.uuid7()::text])::text as r',
          ['hard', 'p', 'what? $2', HARD],
        )
    })
    assert.deepEqual(await texts('hard'), [HARD])
    const row = await subject.transaction(async (tx) =>
      subject.completion.door(tx).text(`select $2::text || '?$1' || $1::text || $$?$$ as "what?"`, ['one ?', 'two $2']),
    )
    assert.equal(row, 'two $2?$1one ??')
  })

  await t.test('a row with an 8-byte number beside it keeps its number', async () => {
    await subject.transaction(async (tx) => {
      await subject.insert(tx, 9_007_199_254_740_993n, 'exact')
      await lockstep.in(subject.join(tx)).kv.incr('n', 'big', 9_007_199_254_740_991, { ttl: '1d' })
    })
    assert.deepEqual(await statuses(9_007_199_254_740_993n), ['exact'])
    assert.equal((await lockstep.kv.get('n', 'big')).value, 9_007_199_254_740_991)
  })

  await t.test('transactions at once, and calls at once inside each, do not mix', async () => {
    await Promise.all(
      Array.from({ length: 6 }, async (_, nth) =>
        subject
          .transaction(async (tx) => {
            const joined = lockstep.in(subject.join(tx))
            await Promise.all(
              ['a', 'b', 'c'].map(async (name) =>
                joined
                  .queue('many')
                  .partition(name)
                  .push({ data: `${name}${nth}` }),
              ),
            )
            if (nth % 2 === 1) throw new Error('odd')
          })
          .catch((error: unknown) => assert.match(String(error), /odd/)),
      ),
    )
    const expected = [0, 2, 4].flatMap((nth) => ['a', 'b', 'c'].map((name) => `"${name}${nth}"`))
    const found: string[] = []
    await until('all are there', async () => {
      found.push(...(await texts('many')))
      return found.length >= expected.length
    })
    assert.deepEqual(found.toSorted(), expected.toSorted())
  })

  await t.test('after a statement that failed the transaction is refused by name', async () => {
    await assert.rejects(
      subject.transaction(async (tx) => {
        await subject.run(tx, 'select 1/0').catch(() => {})
        await assert.rejects(async () => lockstep.in(subject.join(tx)).queue('failed').push({ data: 1 }), {
          code: 'failed_transaction',
        })
        throw new Error('given up')
      }),
    )
    assert.deepEqual(await committed('failed'), [])
  })

  await t.test('stricter isolation is served; a read-only transaction is refused by name', async () => {
    for (const level of ['repeatable read', 'serializable']) {
      await subject.transaction(async (tx) => {
        await subject.run(tx, `set transaction isolation level ${level}`)
        await lockstep
          .in(subject.join(tx))
          .queue(`level ${level.slice(0, 6)}`)
          .push({ data: level })
        await lockstep.in(subject.join(tx)).kv.put('level', level, 1, { ttl: '1d' })
      })
      assert.deepEqual(await texts(`level ${level.slice(0, 6)}`), [JSON.stringify(level)])
    }
    await assert.rejects(
      subject.transaction(async (tx) => {
        await subject.run(tx, 'set transaction read only')
        await assert.rejects(async () => lockstep.in(subject.join(tx)).queue('readonly').push({ data: 1 }), {
          code: 'read_only_transaction',
        })
        throw new Error('given up')
      }),
    )
  })

  await t.test("Lockstep's own refusals keep their code through the library's errors", async () => {
    await ground.beside.query(`create or replace function refuse(message text) returns text language plpgsql as $$
      begin raise exception using errcode = 'LS409', detail = 'version', message = message; end $$`)
    await assert.rejects(
      subject.transaction(async (tx) =>
        foreignDoor(subject.completion.door(tx)).text('select refuse($1::text) as r', ['another version']),
      ),
      (error) => error instanceof LockstepError && /another version/.test(error.message) && error.cause !== undefined,
    )
  })

  await t.test('a backend that ends before the commit takes all of it along, and the process lives', async () => {
    await assert.rejects(
      subject.transaction(async (tx) => {
        await subject.insert(tx, 4n, 'made')
        await lockstep.in(subject.join(tx)).queue('crash').push({ data: 1 })
        await endBackend(await backendOf(ground, tx))
        // Its own COMMIT on the lost connection would end the process.
        if (subject.endsItself === true) await new Promise(() => {})
      }),
    )
    assert.deepEqual(await statuses(4n), [])
    assert.deepEqual(await committed('crash'), [])
    await recovered(ground)
  })

  await t.test('what is no open transaction is refused where it is handed over', async () => {
    for (const [what, join] of Object.entries(subject.wrong)) {
      assert.throws(join, { code: 'not_a_transaction', message: /takes|without an open/ }, what)
    }
    let kept: Tx | undefined
    await subject.transaction(async (tx) => {
      kept = tx
    })
    const ended = kept
    assert.ok(ended !== undefined)
    if (subject.afterEnd === 'refused') assert.throws(() => subject.join(ended), { code: 'not_a_transaction' })
    if (subject.afterEnd === 'rejected') {
      await assert.rejects(async () => lockstep.in(subject.join(ended)).queue('ended').push({ data: 1 }))
      assert.deepEqual(await committed('ended'), [])
    }
  })
}
