// Steps of state, acks and pushes, of the engine's own and inside a user's transaction that commits or rolls back: judged in
// their order, done whole or not at all.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { kv } from '../../src/operations/kv.ts'
import { transactionIn } from '../../src/operations/transaction-in.ts'
import { transaction } from '../../src/operations/transaction.ts'
import type { TransactionRequest, TransactionResult } from '../../src/protocol/transaction.ts'
import { moveClock } from '../kit/clock.ts'
import { drain } from '../kit/drain.ts'
import { putOf, stepOf } from '../kit/speech.ts'
import { command, itemsFor, itemsOf, pick, pushes, say, store, words, type Command, type Real } from './command.ts'

type How = 'own' | 'commit' | 'rollback'

export const Step: fc.Arbitrary<Command> = fc
  .tuple(
    fc.nat({ max: 1 }),
    fc.oneof(words, fc.constant([])),
    pushes,
    fc.constantFrom('right', 'stale', 'none'),
    fc.constantFrom<How[]>('own', 'own', 'commit', 'rollback'),
  )
  .map(([at, drawn, pushed, expectation, how]) => {
    const text = `step ${how} ${at} ${drawn.map((one) => `${one.place}:${one.status}`).join()} ${JSON.stringify(pushed)} ${expectation}`
    return command(
      text,
      async (model, real) => {
        const leased = pick(real, at)
        const { lease } = leased
        const said = say(model, lease, drawn, true)
        const items = itemsOf(real, pushed)
        const key = real.queue
        const version = real.versions.get(key) ?? 0
        const expect = expectation === 'none' ? null : expectation === 'right' ? version : version + 1
        const told = await tell(
          real,
          how,
          stepOf({
            acks: itemsFor(leased, true, true, said),
            pushes: items,
            kv: [putOf('model', key, '1', expect)],
          }),
        )
        const reason =
          expectation === 'stale'
            ? 'kv_precondition'
            : model.judge(lease, true, said).some((one) => one !== 'do')
              ? 'rejected_ack'
              : items.some((one) => model.known(one.partition, one.transactionId) !== null)
                ? 'duplicate'
                : null
        assert.equal(told.success ? null : told.reason, reason)
        if (told.success && how !== 'rollback') {
          const answers = model.ack(lease, true, said)
          const stored = store(model, items)
          const expected = [
            ...answers.map((one) => [one.released, one.dlq]),
            ...stored.map((one) => [one.status, one.id, how === 'own' ? one.offset : null]),
          ]
          assert.deepEqual(
            told.operations.map((one) =>
              one.type === 'ack' ? [one.leaseReleased, one.dlq] : [one.status, one.messageId, one.offset],
            ),
            expected,
          )
          const [put] = told.kv
          assert.ok(put?.op === 'put' && put.applied && (put.version ?? 0) > version)
          real.versions.set(key, put.version ?? 0)
        }
        const [answer] = await kv(real.own.database, [[{ op: 'get', ns: 'model', key }]])
        const row = answer?.ok ? answer.results[0] : undefined
        assert.equal(row?.op === 'get' && row.found ? row.row.version : 0, real.versions.get(key) ?? 0)
        if (how === 'commit') await drain(real.own, real.queue, 'placer', { autoAck: true })
        await moveClock(real.own, 2)
      },
      'leases',
    )
  })

/** A loser is committed too where the user commits: it has written nothing. */
async function tell({ own, user }: Real, how: How, step: TransactionRequest): Promise<TransactionResult> {
  if (how === 'own') {
    const [told] = await transaction(own.database, [step])
    assert.ok(told !== undefined && told !== 'deferred')
    return told
  }
  await user.sql('begin')
  const told = await transactionIn(user.door, step)
  await user.sql(how)
  return told
}
