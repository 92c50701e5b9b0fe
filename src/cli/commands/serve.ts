// `lockstep serve`: a broker on a database of one's own. It refuses to start on a schema that does not fit and on a port that
// is taken, and drains on SIGTERM.

import { runBroker } from '../../broker/run-broker.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { findDatabase } from '../find-database.ts'
import { BROKER_PORT, isPortTaken, portTaken } from '../start-dev.ts'
import { untilAborted } from '../until-aborted.ts'

export const serve: Command = {
  name: 'serve',
  summary: 'Run a broker on the database of DATABASE_URL.',
  detail:
    'Any number of brokers may serve one database. Further settings come from the environment (docs/reference/settings.md). SIGTERM: claim no more, finish what is in flight, hand back the rest, end with 0.',
  arguments: [],
  options: {
    port: {
      kind: 'integer',
      value: 'N',
      min: 0,
      max: 65_535,
      meaning: 'Port to listen on; 0 takes a free one.',
      fallback: 'PORT, or 6632',
    },
    ...DATABASE_OPTIONS,
  },
  examples: ['lockstep serve', 'PORT=7000 lockstep serve'],
  async run(call) {
    const { output } = call
    // Refuses a schema that does not fit before anything listens.
    await withDatabase(call, async () => {})
    const { connectionString } = findDatabase(call.text('database-file'), call.env, process.cwd())
    const port = call.integer('port')
    const settings = { environment: call.env, connectionString, ...(port === null ? {} : { port }) }
    const broker = await runBroker(settings).catch((error: unknown) => {
      throw isPortTaken(error) ? portTaken(port ?? Number(call.env['PORT'] ?? BROKER_PORT), 'lockstep serve') : error
    })
    output.result(
      { event: 'ready', address: broker.address, pid: process.pid },
      () => `The broker listens on ${output.styled('bold', broker.address)}`,
    )
    await untilAborted(call.signal)
    await broker.stop()
    return 0
  },
}
