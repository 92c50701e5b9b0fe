// `lockstep dev`: everything on one machine, for trying and developing: an embedded PostgreSQL whose data stays in a folder,
// the schema, and a broker. Runs until Ctrl-C, then drains and stops both.

import { resolve } from 'node:path'
import type { Command } from '../command.ts'
import { devLines } from '../dev-lines.ts'
import { BROKER_PORT, startDev } from '../start-dev.ts'
import { keysFrom } from '../vault-from.ts'
import { untilAborted } from '../until-aborted.ts'

export const dev: Command = {
  name: 'dev',
  summary: 'Run an embedded PostgreSQL and a broker here, for development.',
  detail:
    'The data is kept in the folder and found again by the next run. Where it is ./.lockstep, the other commands find this database in the same working folder without DATABASE_URL.',
  arguments: [],
  options: {
    port: {
      kind: 'integer',
      value: 'N',
      min: 1,
      max: 65_535,
      meaning: 'Port of the broker on 127.0.0.1.',
      fallback: `${BROKER_PORT}, or a free one when that is taken`,
    },
    data: { kind: 'text', value: 'DIR', meaning: 'Folder for the database.', fallback: './.lockstep' },
  },
  examples: ['lockstep dev', 'lockstep dev --port 7000 --data /var/lib/my-lockstep'],
  async run(call) {
    const { output, signal } = call
    const home = resolve(call.text('data') ?? '.lockstep')
    const running = await startDev({
      home,
      port: call.integer('port'),
      encryptionKeys: keysFrom(call.env),
      say: (line) => output.progress(line),
    })
    const { address, postgres } = running
    output.result(
      { event: 'ready', address, postgresPort: postgres.port, dataDir: postgres.dataDir, pid: process.pid },
      () =>
        [
          `The broker listens on ${output.styled('bold', address)}`,
          `PostgreSQL ${postgres.version} on 127.0.0.1:${postgres.port}, user postgres, database lockstep;`,
          ...devLines({ ...postgres, isFound: home === resolve('.lockstep') }),
          '',
          'Ctrl-C stops both.',
        ].join('\n'),
    )
    try {
      await untilAborted(signal, running.lost)
      output.progress('stopping the broker, then PostgreSQL')
    } finally {
      await running.stop()
    }
    output.progress('stopped')
    return 0
  },
}
