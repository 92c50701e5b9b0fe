// The part of the shared suite about a connection that is lost around the COMMIT: what the completion says is never more than
// what is known, and the row beside it tells the rest.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { lazily } from '../../src/db/lazily.ts'
import { LockstepError } from '../../src/protocol/errors.ts'
import { startProxy } from '../../src/testing/proxy.ts'
import { closeWithin, type Ground } from './ground.ts'

export async function testCutting<Tx>(t: TestContext, ground: Ground<Tx>): Promise<void> {
  for (const point of ['before-commit', 'after-commit'] as const) {
    await t.test(`a connection cut ${point} leaves the outcome unknown, never a success`, async () => {
      const proxy = await startProxy(ground.database.connectionString)
      const other = await ground.open(proxy.connectionString)
      try {
        const lazy = lazily(other.completion, { timeoutMs: 60_000 })
        const { tx } = await lazy.open()
        await other.insert(tx, point === 'before-commit' ? 201n : 202n, 'made')
        const cut = proxy.cutNext(point)
        await assert.rejects(
          lazy.commit(async (door) => door.text('select finish($1::text, $1::text) as r', [point])),
          (error) => error instanceof LockstepError && error.code === 'outcome_unknown',
        )
        await cut
        const expected = point === 'before-commit' ? [] : ['made']
        assert.deepEqual(await ground.statuses(201n, 202n), expected)
        assert.equal((await ground.finished(point)).length, expected.length)
      } finally {
        proxy.cutAll()
        await closeWithin(other, 500)
        await proxy.stop()
      }
    })
  }
}
