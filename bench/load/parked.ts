// Parked polls: so many connections, each waiting in one long poll of an empty queue until the window is over. Nothing is
// counted but the polls; what is measured is the memory of the broker meanwhile.
import { setTimeout as sleep } from 'node:timers/promises'
import { openConnection } from './http-connection.ts'
import type { HttpConnection } from './http-connection.ts'
import type { Load } from './job.ts'

const AT_ONCE = 250

export const parked: Load = async (job, begin) => {
  const connections: HttpConnection[] = []
  const path = `/api/v1/pop/queue/${job.queue}?batch=1&wait=true&timeout=60000&consumerGroup=bench&subscriptionMode=all`
  let early = 0
  while (connections.length < job.connections) {
    const opened = await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, job.connections - connections.length) }, () => openConnection(job.url)),
    )
    for (const connection of opened) {
      // A poll that is answered or cut before the end was not parked.
      connection.send('GET', path).then(
        () => (early += 1),
        () => (early += 1),
      )
    }
    connections.push(...opened)
    await sleep(50)
  }
  const tally = begin()
  const started = performance.now()
  await sleep(job.warmupSeconds * 1000 + 100)
  tally.done(connections.length - early, started)
  while (tally.running()) await sleep(100)
  if (early > 0) tally.failed(`${early} polls did not stay parked`)
  for (const connection of connections) connection.close()
  return tally
}
