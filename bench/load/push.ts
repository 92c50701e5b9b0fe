// Pushes: each connection sends one request after the other, each of `batch` messages with ids of their own, to the
// partition of that connection.
import type { HttpConnection } from './http-connection.ts'
import { eachConnection } from './each-connection.ts'
import type { Load } from './job.ts'
import { payload } from './payload.ts'
import { unique } from './unique.ts'

export const push: Load = (job, begin) =>
  eachConnection(job, begin, async (connection, index, tally) => {
    const partition = `p-${index % job.partitions}`
    while (tally.running()) {
      const body = pushBody(job.queue, partition, job.batch)
      const started = performance.now()
      const answer = await connection.send('POST', '/api/v1/push', body)
      if (answer.status === 201 && !answer.body.includes('"error"')) tally.done(job.batch, started)
      else tally.failed(`${answer.status} ${answer.body}`)
    }
  })

export function pushBody(queue: string, partition: string, count: number): string {
  const items: string[] = []
  for (let i = 0; i < count; i += 1) {
    items.push(`{"queue":"${queue}","partition":"${partition}","transactionId":"${unique()}","payload":${payload(i)}}`)
  }
  return `{"items":[${items.join(',')}]}`
}

/** Fills `partitions` partitions with `each` messages, over HTTP, before a window begins. */
export async function fill(
  connections: readonly HttpConnection[],
  queue: string,
  partitions: number,
  each: number,
): Promise<void> {
  const work: { partition: string; count: number }[] = []
  for (let left = each; left > 0; left -= 1000) {
    for (let p = 0; p < partitions; p += 1) work.push({ partition: `p-${p}`, count: Math.min(left, 1000) })
  }
  // Small partitions travel together: one request of about 1,000 messages.
  const perRequest = Math.max(1, Math.floor(1000 / Math.min(each, 1000)))
  let next = 0
  await Promise.all(
    connections.map(async (connection) => {
      while (next < work.length) {
        const part = work.slice(next, next + perRequest)
        next += perRequest
        const bodies = part.map((one) => pushBody(queue, one.partition, one.count).slice('{"items":['.length, -2))
        const answer = await connection.send('POST', '/api/v1/push', `{"items":[${bodies.join(',')}]}`)
        if (answer.status !== 201) throw new Error(`filling ${queue}: ${answer.status} ${answer.body.slice(0, 300)}`)
      }
    }),
  )
}
