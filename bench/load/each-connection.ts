// The frame of every HTTP load: open all connections, prepare, begin the window, run one loop per connection, close.
import { openConnection } from './http-connection.ts'
import type { HttpConnection } from './http-connection.ts'
import type { Job } from './job.ts'
import type { Tally } from './tally.ts'

export async function eachConnection(
  job: Job,
  begin: () => Tally,
  loop: (connection: HttpConnection, index: number, tally: Tally) => Promise<void>,
  prepare: (connections: readonly HttpConnection[]) => Promise<void> = async () => {},
): Promise<Tally> {
  const connections = await Promise.all(Array.from({ length: job.connections }, () => openConnection(job.url)))
  try {
    await prepare(connections)
    const tally = begin()
    await Promise.all(connections.map((connection, index) => loop(connection, index, tally)))
    return tally
  } finally {
    for (const connection of connections) connection.close()
  }
}
