// A worker whose handler blocks its event loop for three leases; bundled and run as a process of its own by the test beside it.
import { Lockstep, action } from 'lockstep'
import { z } from 'zod'

const block = action({ name: 'block', input: z.object({ ms: z.number() }) }, (ctx, { ms }) => {
  const end = performance.now() + ms
  while (performance.now() < end);
  return ctx.attempt
})

async function main(): Promise<void> {
  const lockstep = new Lockstep({ connectionString: process.env['LOCKSTEP_WORKER_URL'] ?? '', upkeep: false })
  const worker = lockstep.worker({ actions: [block], lease: '600ms', poll: '20ms', exitOnSignal: true })
  await worker.start()
  const run = await block.enqueue(lockstep, { ms: 2_000 })
  const attempt = await run.result({ timeout: '20s' })
  console.log(`attempt ${attempt}`)
  await lockstep.close()
}

void main()
