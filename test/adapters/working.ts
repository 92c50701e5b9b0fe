// The part of the shared suite about real workers: runs are submitted in a library's transaction and their steps complete in
// one, with the engine's own statements, through what may go wrong around a commit.
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { action, workflow, RunNotFoundError, type Worker, type WorkerOptions } from 'lockstep'
import { z } from 'zod'
import { endBackend } from '../../src/testing/end-backends.ts'
import { startProxy } from '../../src/testing/proxy.ts'
import { Crash } from '../../src/workflow/worker/crash.ts'
import { closeWithin, recovered, type Ground } from './ground.ts'

const Order = z.object({ id: z.number() })
const RETRY = { attempts: 5, backoff: '20ms', maxBackoff: '50ms' } as const
const SOON = { timeout: '20s' } as const

export async function testWorking<Tx>(t: TestContext, ground: Ground<Tx>): Promise<void> {
  const { subject, lockstep, statuses, committed, texts } = ground
  const { completion } = subject

  async function withWorker(options: WorkerOptions, work: () => Promise<void>): Promise<void> {
    const worker: Worker = lockstep.worker({ poll: '50ms', lease: '2s', ...options })
    await worker.start()
    try {
      await work()
    } finally {
      await worker.stop({ drain: '1s' })
    }
  }

  const receive = action({ name: 'receive', input: Order, completion, retry: RETRY }, async (ctx, { id }) => {
    ctx
      .queue('received')
      .push({ data: { id } })
      .catch(() => {})
    const tx = await ctx.completionTx()
    await subject.insert(tx, BigInt(id), `received by ${ctx.node}`)
    await ctx.kv.put('received', String(id), ctx.runId, { ttl: '1d' })
    return { id }
  })
  const ship = action({ name: 'ship', input: Order, completion, retry: RETRY }, async (ctx, { id }) => {
    await subject.insert(await ctx.completionTx(), BigInt(id), 'shipped')
    return 'shipped'
  })
  const deliver = workflow({ name: 'deliver', input: Order })
    .node('receive', receive, ({ input }) => input)
    .node('ship', ship, ({ outputs }) => ({ id: outputs.receive.id + 1 }), { after: ['receive'] })
  const inCode = workflow({ name: 'in_code', input: Order, completion }, async (ctx, { id }) => {
    await ctx.step('first', async (step) => subject.insert(step.tx, BigInt(id), 'first'))
    return ctx.step('second', async (step) => {
      await step.queue('coded').push({ data: id })
      await subject.insert(step.tx, BigInt(id + 1), 'second')
      return id
    })
  })

  await t.test(
    'a run begins with the commit of the transaction that submitted it, and its steps complete in one',
    async () => {
      await withWorker({ workflows: [deliver] }, async () => {
        const run = await subject.transaction(async (tx) => {
          await subject.insert(tx, 300n, 'ordered')
          const handle = await deliver.submitTx(lockstep, subject.join(tx), { id: 301 })
          await assert.rejects(
            handle.wait(),
            (error) => error instanceof RunNotFoundError && error.reason === 'uncommitted',
          )
          return handle
        })
        assert.deepEqual(await run.result(SOON), { receive: { id: 301 }, ship: 'shipped' })
        assert.deepEqual(await statuses(300n, 301n, 302n), ['ordered', 'received by receive', 'shipped'])
        assert.deepEqual(await texts('received'), ['{"id":301}'])
        assert.equal((await lockstep.kv.get('received', '301')).value, run.id)
        const job = await subject.transaction(async (tx) => ship.enqueueTx(lockstep, subject.join(tx), { id: 303 }))
        assert.equal(await job.result(SOON), 'shipped')
      })
    },
  )

  await t.test('a rollback leaves no run, and its handle says so', async () => {
    const kept: { wait(): Promise<unknown> }[] = []
    await assert.rejects(
      subject.transaction(async (tx) => {
        kept.push(await deliver.submitTx(lockstep, subject.join(tx), { id: 310 }))
        throw new Error('no order')
      }),
      /no order/,
    )
    const [handle] = kept
    assert.ok(handle !== undefined)
    await assert.rejects(handle.wait(), (error) => error instanceof RunNotFoundError && error.reason === 'rolled_back')
  })

  await t.test('the steps of a workflow in code are commits of the library', async () => {
    await withWorker({ workflows: [inCode] }, async () => {
      const run = await inCode.submit(lockstep, { id: 320 })
      assert.equal(await run.result(SOON), 320)
      assert.deepEqual(await statuses(320n, 321n), ['first', 'second'])
      assert.deepEqual(await texts('coded'), ['320'])
    })
  })

  await t.test('a handler that swallows a failed statement has not completed; its next attempt does', async () => {
    const attempts: number[] = []
    const careless = action({ name: 'careless', input: Order, completion, retry: RETRY }, async (ctx, { id }) => {
      attempts.push(ctx.attempt)
      const tx = await ctx.completionTx()
      await subject.insert(tx, BigInt(id), `attempt ${ctx.attempt}`)
      if (ctx.attempt === 1) await subject.run(tx, 'select 1/0').catch(() => {})
    })
    await withWorker({ actions: [careless] }, async () => {
      const run = await careless.enqueue(lockstep, { id: 330 })
      assert.equal((await run.wait(SOON)).state, 'completed')
    })
    assert.deepEqual(attempts, [1, 2])
    assert.deepEqual(await statuses(330n), ['attempt 2'])
  })

  await t.test('a crash before the commit leaves the row absent, and exactly once after recovery', async () => {
    let armed = true
    const fragile = action({ name: 'fragile', input: Order, completion, retry: RETRY }, async (ctx, { id }) => {
      await subject.insert(await ctx.completionTx(), BigInt(id), `attempt ${ctx.attempt}`)
    })
    const beforeCommit: NonNullable<WorkerOptions['hooks']>['beforeCommit'] = async ({ door }) => {
      if (!armed) return
      armed = false
      const pid = await door.text('select pg_backend_pid()::text as r', [])
      assert.ok(pid !== null)
      await endBackend(pid)
      assert.deepEqual(await statuses(340n), [])
      throw new Crash('the process died here')
    }
    await withWorker({ actions: [fragile], lease: '500ms', hooks: { beforeCommit } }, async () => {
      const run = await fragile.enqueue(lockstep, { id: 340 })
      assert.equal((await run.wait(SOON)).state, 'completed')
    })
    assert.equal(armed, false)
    assert.equal((await statuses(340n)).length, 1)
    await recovered(ground)
  })

  for (const point of ['before-commit', 'after-commit'] as const) {
    await t.test(`a step cut ${point} is decided by its row, and its writes are there once`, async () => {
      const proxy = await startProxy(ground.database.connectionString)
      const other = await ground.open(proxy.connectionString)
      const id = point === 'before-commit' ? 350 : 351
      const attempts: number[] = []
      const cuts: Promise<void>[] = []
      const severed = action(
        { name: `severed ${point}`, input: Order, completion: other.completion, retry: RETRY },
        async (ctx, input) => {
          attempts.push(ctx.attempt)
          await other.insert(await ctx.completionTx(), BigInt(input.id), `attempt ${ctx.attempt}`)
          await ctx.queue(`severed ${input.id}`).push({ data: ctx.attempt })
          if (cuts.length === 0) cuts.push(proxy.cutNext(point))
        },
      )
      try {
        await withWorker({ actions: [severed] }, async () => {
          const run = await severed.enqueue(lockstep, { id })
          assert.equal((await run.wait(SOON)).state, 'completed')
        })
        await Promise.all(cuts)
        if (point === 'after-commit') assert.deepEqual(attempts, [1])
        else assert.ok(attempts.length > 1)
        const [status] = await statuses(BigInt(id))
        assert.equal(status, `attempt ${attempts.at(-1) ?? 0}`)
        assert.deepEqual(await committed(`severed ${id}`), [String(attempts.at(-1))])
      } finally {
        proxy.cutAll()
        await closeWithin(other, 500)
        await proxy.stop()
      }
    })
  }
}
