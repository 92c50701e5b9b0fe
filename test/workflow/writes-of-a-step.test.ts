// What a handler says through `ctx` is in the step's commit, whether it says it before or after it opens the transaction.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action } from 'lockstep'
import { z } from 'zod'
import { workshop } from './workshop.ts'

for (const when of ['before', 'after'] as const) {
  test(`pushes, state and runs that are said ${when} the transaction is opened are committed with the step`, async (t) => {
    const { lockstep, worker } = await workshop(t)
    const follow = action({ name: 'follow', input: z.number() }, async (_, n) => n)
    const lead = action({ name: 'lead', input: z.number() }, async (ctx, n) => {
      if (when === 'after') await ctx.completionTx()
      await ctx.queue('q').push({ data: n })
      await ctx.kv.put('o', 'k', n, { ttl: '1d' })
      const { id } = await ctx.enqueue(follow, n)
      if (when === 'before') await ctx.completionTx()
      return id
    })
    await worker({ actions: [lead, follow] })
    const run = await lead.enqueue(lockstep, 7)
    const next = await run.result({ timeout: '10s' })
    assert.equal((await lockstep.run(next).wait({ timeout: '10s' })).state, 'completed')
    assert.equal((await lockstep.kv.get('o', 'k')).value, 7)
    const messages = await lockstep.queue('q').group('g').subscriptionMode('all').wait(true).timeout(5_000).pop()
    assert.deepEqual(
      messages.map((message) => message.data),
      [7],
    )
  })
}
