// Idle consumers of a queue with very many partitions, all read to their end: each connection waits in a long poll. `idle` counts
// the polls, what is measured is what they cost meanwhile; `wake` pushes a message to some partition now and then and counts
// how long it takes from the push to the consumer that gets it.
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { eachConnection } from './each-connection.ts'
import { openConnection, type HttpConnection } from './http-connection.ts'
import type { Job, Load } from './job.ts'
import { pushBody } from './push.ts'
import type { Tally } from './tally.ts'

const BETWEEN_PUSHES_MS = 15
const WAIT_MS = 1_000

/** As a queue looks whose messages were all consumed and then let go by retention. */
const LAY = [
  `insert into lockstep.queue (name, created_at) values ($1, clock_timestamp())`,
  `insert into lockstep.consumer_group (queue_id, name, starts_at, subscription_mode, created_at)
     select id, 'bench', '-infinity', 'all', clock_timestamp() from lockstep.queue where name = $1`,
  `insert into lockstep.partition (queue_id, name, next_offset, log_start, created_at, last_created_at, last_pushed_at)
     select q.id, 'p-' || n, 5, 5, clock_timestamp(), clock_timestamp(), clock_timestamp()
       from lockstep.queue q cross join generate_series(0, $2::int - 1) n where q.name = $1`,
  `insert into lockstep.lane (queue_id, group_id, partition_id, committed)
     select p.queue_id, g.id, p.id, 5 from lockstep.queue q
       join lockstep.consumer_group g on g.queue_id = q.id
       join lockstep.partition p on p.queue_id = q.id
      where q.name = $1`,
]

async function lay(job: Job): Promise<void> {
  const client = new Client({ connectionString: job.connectionString })
  await client.connect()
  for (const statement of LAY)
    await client.query(statement, statement.includes('$2') ? [job.queue, job.partitions] : [job.queue])
  await client.query('vacuum analyze lockstep.partition, lockstep.lane')
  await client.end()
}

const path = (job: Job): string =>
  `/api/v1/pop/queue/${job.queue}?batch=1&wait=true&timeout=${WAIT_MS}&consumerGroup=bench&subscriptionMode=all`

export const idle: Load = (job, begin) =>
  eachConnection(
    job,
    begin,
    async (connection, _, tally) => {
      while (tally.running()) {
        const started = performance.now()
        const { status, body } = await connection.send('GET', path(job))
        if (status === 204) tally.done(1, started)
        else tally.failed(`${status} ${body}`)
      }
    },
    () => lay(job),
  )

export const wake: Load = async (job, begin) => {
  const pushed = new Map<string, number>()
  const pusher = await openConnection(job.url)
  try {
    return await eachConnection(
      job,
      () => {
        const tally = begin()
        void pushNowAndThen(job, pusher, pushed, tally)
        return tally
      },
      async (connection, _, tally) => {
        while (tally.running()) await popOne(job, connection, pushed, tally)
      },
      () => lay(job),
    )
  } finally {
    pusher.close()
  }
}

async function pushNowAndThen(
  job: Job,
  pusher: HttpConnection,
  pushed: Map<string, number>,
  tally: Tally,
): Promise<void> {
  for (let n = 1; tally.running(); n += 1) {
    const body = pushBody(job.queue, `p-${(n * 7_919) % job.partitions}`, 1)
    pushed.set(/"transactionId":"([^"]+)"/.exec(body)?.[1] ?? '', performance.now())
    const { status, body: answer } = await pusher.send('POST', '/api/v1/push', body)
    if (status !== 201) tally.failed(`${status} ${answer}`)
    await sleep(BETWEEN_PUSHES_MS)
  }
}

async function popOne(job: Job, connection: HttpConnection, pushed: Map<string, number>, tally: Tally): Promise<void> {
  const { status, body } = await connection.send('GET', path(job))
  if (status === 204) return
  const read = (name: string): string => new RegExp(`"${name}":"([^"]+)"`).exec(body)?.[1] ?? ''
  const started = pushed.get(read('transactionId'))
  if (status !== 200 || started === undefined) return tally.failed(`${status} ${body}`)
  tally.done(1, started)
  pushed.delete(read('transactionId'))
  const acked = await connection.send(
    'POST',
    '/api/v1/ack',
    `{"consumerGroup":"bench","transactionId":"${read('transactionId')}","partitionId":"${read('partitionId')}","leaseId":"${read('leaseId')}"}`,
  )
  if (!acked.body.includes('"success":true')) tally.failed(acked.body)
}
