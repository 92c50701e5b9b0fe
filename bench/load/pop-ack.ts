// Pop and ack: each connection pops `batch` messages of whatever partition is due and acknowledges them; a unit is a
// message that was popped and acknowledged. The queue is filled before the window begins.
import { eachConnection } from './each-connection.ts'
import type { Load } from './job.ts'
import { fill } from './push.ts'

/** Acknowledges every message by its id, as the published clients do. */
export const popAck: Load = (job, begin) => run(job, begin, false)

/** Names only the last message of the batch: all before it are completed with it. */
export const popAckLast: Load = (job, begin) => run(job, begin, true)

const run = (job: Parameters<Load>[0], begin: Parameters<Load>[1], lastOnly: boolean): ReturnType<Load> =>
  eachConnection(
    job,
    begin,
    async (connection, _index, tally) => {
      const path = `/api/v1/pop/queue/${job.queue}?batch=${job.batch}&wait=false&consumerGroup=bench&subscriptionMode=all`
      while (tally.running()) {
        const started = performance.now()
        const popped = await connection.send('GET', path)
        if (popped.status === 204) {
          tally.failed('the queue was empty: fill it with more')
          await new Promise((resolve) => setTimeout(resolve, 5))
          continue
        }
        const ids = [...popped.body.matchAll(/"transactionId":"([^"]+)"/g)].map((match) => match[1] ?? '')
        const lease = /"leaseId":"([^"]+)"/.exec(popped.body)?.[1] ?? ''
        const partition = /"partitionId":"([^"]+)"/.exec(popped.body)?.[1] ?? ''
        const named = lastOnly ? ids.slice(-1) : ids
        const rest = `"partitionId":"${partition}","status":"completed","leaseId":"${lease}"`
        const acked =
          named.length === 1
            ? await connection.send(
                'POST',
                '/api/v1/ack',
                `{"transactionId":"${named[0] ?? ''}","consumerGroup":"bench",${rest}}`,
              )
            : await connection.send(
                'POST',
                '/api/v1/ack/batch',
                `{"consumerGroup":"bench","acknowledgments":[${named.map((id) => `{"transactionId":"${id}",${rest}}`).join(',')}]}`,
              )
        if (popped.status === 200 && acked.status === 200 && !acked.body.includes('"success":false'))
          tally.done(ids.length, started)
        else tally.failed(`${popped.status} ${acked.status} ${acked.body}`)
      }
    },
    (connections) =>
      fill(
        connections.slice(0, 8),
        job.queue,
        job.partitions,
        fillEach(job.batch, job.partitions, job.seconds + job.warmupSeconds),
      ),
  )

/** Enough for twice the rate that is to be reached. */
function fillEach(batch: number, partitions: number, seconds: number): number {
  const rate = batch >= 100 ? 150_000 : 10_000
  return Math.ceil((rate * seconds) / partitions)
}
