// The action under test of the examples beside it: it charges an order in the transaction in which it completes.
import { action } from 'lockstep'
import { z } from 'zod'

export const charge = action({ name: 'charge', input: z.object({ orderId: z.number() }) }, async (ctx, input) => {
  const tx = await ctx.completionTx()
  await tx.query('insert into receipts (run_id, order_id) values ($1, $2)', [ctx.runId, input.orderId])
  return { receipt: `r-${input.orderId}` }
})
