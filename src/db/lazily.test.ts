import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Completion } from '../protocol/completion.ts'
import { LockstepError } from '../protocol/errors.ts'
import { lazily } from './lazily.ts'

const LIMITS = { timeoutMs: 1_000 }

/** A library that writes down what it does; its `commit` and `text` can be told to fail. */
function library(told: { commit?: () => void; text?: () => void; resolveEarly?: boolean } = {}): {
  readonly completion: Completion<object>
  readonly log: string[]
} {
  const log: string[] = []
  const tx = {}
  return {
    log,
    completion: {
      library: 'fake',
      async transaction(body, { timeoutMs }) {
        log.push(`begin ${timeoutMs}`)
        try {
          if (told.resolveEarly === true) {
            const early = await Promise.race([
              body(tx),
              new Promise<never>((_, no) => setTimeout(no, 5, 'early')),
            ]).catch((why: unknown) => why)
            // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a library that lies about its result
            return early as never
          }
          const result = await body(tx)
          log.push('commit')
          told.commit?.()
          return result
        } catch (error) {
          log.push('rollback')
          throw error
        }
      },
      door: (given) => ({
        async text(statement) {
          assert.equal(given, tx)
          log.push(statement)
          told.text?.()
          return 'ok'
        },
      }),
      async flush() {
        log.push('flush')
      },
    },
  }
}

test('nothing is opened before the first call, and it is opened once', async () => {
  const { completion, log } = library()
  const lazy = lazily(completion, LIMITS)
  assert.equal(lazy.opened, false)
  await lazy.abort()
  await assert.rejects(lazy.open(), { code: 'not_a_transaction' })
  assert.deepEqual(log, [])
  const other = lazily(completion, LIMITS)
  const [first, second] = await Promise.all([other.open(), other.open()])
  assert.equal(first, second)
  assert.equal(other.opened, true)
  assert.deepEqual(log, ['begin 1000'])
  await other.abort()
  assert.deepEqual(log, ['begin 1000', 'rollback'])
})

test('the last statement follows the flush and stands directly before the commit', async () => {
  const { completion, log } = library()
  const lazy = lazily(completion, LIMITS)
  const { door } = await lazy.open()
  await door.text('work', [])
  assert.equal(await lazy.commit(async (last) => last.text('complete', [])), 'ok')
  assert.deepEqual(log, ['begin 1000', 'work', 'flush', 'complete', 'commit'])
  await lazy.abort()
  await assert.rejects(
    lazy.commit(async () => {}),
    { code: 'not_a_transaction' },
  )
  assert.equal(log.at(-1), 'commit')
})

test('a last statement that fails rolls back and says why', async () => {
  const refusal = Object.assign(new Error('current transaction is aborted'), { code: '25P02' })
  const { completion, log } = library({
    text: () => {
      throw refusal
    },
  })
  const lazy = lazily(completion, LIMITS)
  await assert.rejects(
    lazy.commit(async (last) => last.text('complete', [])),
    { code: 'failed_transaction', cause: refusal },
  )
  assert.deepEqual(log, ['begin 1000', 'flush', 'complete', 'rollback'])
})

test('what the server says about a commit is certain; anything else is unknown', async () => {
  const constraint = Object.assign(new Error('violates foreign key'), { code: '23503' })
  const lost = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  for (const [error, expected] of [
    [constraint, { code: '23503' }],
    [lost, { code: 'outcome_unknown' }],
    [new Error('closed'), { code: 'outcome_unknown' }],
    [Object.assign(new Error('terminated'), { code: '57P01' }), { code: 'outcome_unknown' }],
  ] as const) {
    const { completion } = library({
      commit: () => {
        throw error
      },
    })
    await assert.rejects(
      lazily(completion, LIMITS).commit(async (last) => last.text('complete', [])),
      expected,
    )
  }
})

test('a library that resolved without our statement is not believed', async () => {
  const { completion } = library({ resolveEarly: true })
  const lazy = lazily(completion, LIMITS)
  await lazy.open()
  await new Promise((go) => setTimeout(go, 20))
  await assert.rejects(
    lazy.commit(async (last) => last.text('complete', [])),
    (error) => error instanceof LockstepError && error.code === 'not_a_transaction' && /leave that/.test(error.message),
  )
})

async function neverRuns<R>(): Promise<R> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a library that resolves without its body
  return undefined as R
}

test('a library that cannot open says so at every call', async () => {
  const completion: Completion<object> = {
    library: 'fake',
    transaction: async () => Promise.reject(new Error('no connection')),
    door: () => ({ text: async () => null }),
  }
  const lazy = lazily(completion, LIMITS)
  await assert.rejects(lazy.open(), /no connection/)
  await assert.rejects(
    lazy.commit(async () => {}),
    /no connection/,
  )
  await lazy.abort()
  await assert.rejects(lazily({ ...completion, transaction: neverRuns }, LIMITS).open(), {
    code: 'internal',
  })
})
