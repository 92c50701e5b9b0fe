// The HTTP floor of this machine: the body of a one-message push, echoed by node:http in a process of its own.
import { eachConnection } from './each-connection.ts'
import type { Load } from './job.ts'
import { pushBody } from './push.ts'

export const echo: Load = (job, begin) =>
  eachConnection(job, begin, async (connection, _index, tally) => {
    while (tally.running()) {
      const body = pushBody(job.queue, 'p', job.batch)
      const started = performance.now()
      const answer = await connection.send('POST', '/', body)
      if (answer.status === 200) tally.done(job.batch, started)
      else tally.failed(`${answer.status}`)
    }
  })
