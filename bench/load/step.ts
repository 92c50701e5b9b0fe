// The step over HTTP: ack of the input, state put against its version, push to the next queue, one transaction. Each
// connection is a worker with a partition and a key of its own; it pops 500 messages at a time, which is not counted.
import { eachConnection } from './each-connection.ts'
import type { Load } from './job.ts'
import { payload } from './payload.ts'
import { fill } from './push.ts'
import { unique } from './unique.ts'

const POPPED = 500

export const step: Load = (job, begin) =>
  eachConnection(
    job,
    begin,
    async (connection, index, tally) => {
      const path = `/api/v1/pop/queue/${job.queue}/partition/p-${index}?batch=${POPPED}&wait=false&consumerGroup=bench&subscriptionMode=all`
      let version = 0
      while (tally.running()) {
        const popped = await connection.send('GET', path)
        if (popped.status !== 200) {
          tally.failed(`pop ${popped.status} ${popped.body}`)
          return
        }
        const ids = [...popped.body.matchAll(/"transactionId":"([^"]+)"/g)].map((match) => match[1] ?? '')
        const lease = /"leaseId":"([^"]+)"/.exec(popped.body)?.[1] ?? ''
        const partition = /"partitionId":"([^"]+)"/.exec(popped.body)?.[1] ?? ''
        for (const id of ids) {
          if (!tally.running()) return
          const body = `{"operations":[{"type":"ack","transactionId":"${id}","partitionId":"${partition}","leaseId":"${lease}","consumerGroup":"bench"},{"type":"push","items":[{"queue":"${job.queue}-out","partition":"p-${index}","transactionId":"${unique()}","payload":${payload(1)}}]}],"requiredLeases":[],"kv":[{"op":"put","ns":"bench","key":"${job.queue}-${index}","value":{"status":"shipping","at":12345},"ttlSeconds":86400,"expect":${version},"required":true}]}`
          const started = performance.now()
          const answer = await connection.send('POST', '/api/v1/transaction', body)
          if (answer.status === 200 && answer.body.includes('"success":true')) tally.done(1, started)
          else {
            tally.failed(`${answer.status} ${answer.body}`)
            return
          }
          version = Number(/"version":(\d+)/.exec(answer.body)?.[1])
        }
      }
    },
    (connections) =>
      fill(
        connections.slice(0, 8),
        job.queue,
        job.connections,
        Math.ceil((14_000 * (job.seconds + job.warmupSeconds)) / job.connections),
      ),
  )
