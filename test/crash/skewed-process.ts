// A broker and a worker in one process whose clock the test set wrong. It tells its address and its time, and puts a schedule
// when it is told to.
import { action, Lockstep } from 'lockstep'
import { createBroker } from 'lockstep/broker'
import { z } from 'zod'
import { openDatabase } from '../../src/db/pool.ts'
import { putSchedule } from '../../src/operations/put-schedule.ts'

/** Longer than the lease it runs under. */
export const long = action({ name: 'long', input: z.object({ ms: z.number() }) }, async (ctx, { ms }) => {
  await new Promise((resolve) => setTimeout(resolve, ms))
  return ctx.attempt
})

export const tick = action({ name: 'tick', input: z.unknown() }, () => 'ticked')

const connectionString = process.env['LOCKSTEP_SKEWED_URL']

if (process.send !== undefined && connectionString !== undefined) {
  const broker = createBroker({ connectionString, port: 0, connections: 4 })
  await broker.start()
  const lockstep = new Lockstep({ connectionString, connections: 4 })
  const worker = lockstep.worker({ actions: [long, tick], concurrency: 4, lease: '12s', poll: '100ms' })
  await worker.start()
  process.on('message', (name: string) => {
    const database = openDatabase({ connectionString, connections: 1 })
    void putSchedule(database, {
      name,
      cron: '* * * * * *',
      zone: 'Asia/Kolkata',
      intervalMs: null,
      target: 'tick',
      input: 'null',
      priority: 0,
      misfire: 'all',
      overlap: 'allow',
    }).finally(() => void database.close())
  })
  process.once('SIGTERM', () => {
    process.disconnect()
    void Promise.all([broker.stop(), lockstep.close({ timeoutMs: 1_000 })])
  })
  process.send({ address: broker.address, now: Date.now() })
}
