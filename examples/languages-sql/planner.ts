// The TypeScript side of a graph whose every action runs in Python: it declares the nodes and how outputs become inputs, and a
// worker that has it plans them. It runs none of the actions: they are of a queue that this worker does not serve.
import { action, workflow } from 'lockstep'
import { z } from 'zod'

function inPython(): never {
  throw new Error('this action runs in Python')
}

const elsewhere = { queue: 'python', retry: { attempts: 3, backoff: '200ms' } } as const
const reserve = action(
  { name: 'reserve', input: z.object({ orderId: z.number() }), ...elsewhere },
  (): { reservation: string } => inPython(),
)
const charge = action(
  { name: 'charge', input: z.object({ reservation: z.string() }), ...elsewhere },
  (): { receipt: string } => inPython(),
)
const ship = action({ name: 'ship', input: z.object({ receipt: z.string() }), ...elsewhere }, (): string => inPython())

export const fulfilOrder = workflow({ name: 'fulfil_order', input: z.object({ orderId: z.number() }) })
  .node('reserve', reserve, ({ input }) => ({ orderId: input.orderId }))
  .node('charge', charge, ({ outputs }) => ({ reservation: outputs.reserve.reservation }), { after: ['reserve'] })
  .node('ship', ship, ({ outputs }) => ({ receipt: outputs.charge.receipt }), { after: ['charge'] })
