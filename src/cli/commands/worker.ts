// `lockstep worker`: runs the actions and workflows that a module exports, until it is told to stop. It looks at the schema
// before it claims anything, and drains on SIGTERM.

import { Lockstep } from '../../client/lockstep.ts'
import type { Logger } from '../../client/logger.ts'
import { definitionIn } from '../../workflow/define/definition.ts'
import { withDatabase } from '../call.ts'
import { keysFrom } from '../vault-from.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { findDatabase } from '../find-database.ts'
import { loadDefinitions } from '../load-definitions.ts'
import type { Output } from '../output.ts'
import { untilAborted } from '../until-aborted.ts'
import { UsageError } from '../usage-error.ts'

const DRAIN_SECONDS = 30

/** A line each on the error output, so that a pipe carries results only. */
function loggerTo(output: Output): Logger {
  const write =
    (level: string) =>
    (details: Readonly<Record<string, unknown>>, message: string): void => {
      const fields = { time: new Date().toISOString(), level, message, ...details }
      const words = Object.entries(details).map(([name, value]) => ` ${name}=${JSON.stringify(value) ?? ''}`)
      process.stderr.write(output.json ? `${JSON.stringify(fields)}\n` : `${level}: ${message}${words.join('')}\n`)
    }
  return { warn: write('warn'), info: write('info') }
}

export const workerCommand: Command = {
  name: 'worker',
  summary: 'Run the actions and workflows that a module exports.',
  detail:
    'The module is JavaScript, or TypeScript on a Node that strips types (from 22.18 on). Any number of workers may run on one database. SIGTERM: claim no more, finish what is at work, hand back the rest uncounted, end with 0. With --json each log line is JSON too.',
  arguments: [],
  options: {
    import: { kind: 'text', value: 'FILE', meaning: 'The module, relative to the working folder. Needed.' },
    concurrency: { kind: 'integer', value: 'N', min: 1, max: 10_000, meaning: 'Handlers at once.', fallback: '10' },
    queues: {
      kind: 'text',
      value: 'A,B',
      meaning: 'Run only actions of these queues.',
      fallback: 'the queue `default`',
    },
    drain: {
      kind: 'integer',
      value: 'SECONDS',
      min: 1,
      max: 86_400,
      meaning: 'How long handlers at work may take at a stop.',
      fallback: String(DRAIN_SECONDS),
    },
    ...DATABASE_OPTIONS,
  },
  examples: ['lockstep worker --import ./dist/actions.js', 'lockstep worker --import ./actions.ts --concurrency 50'],
  async run(call) {
    const file = call.text('import')
    if (file === null) {
      throw new UsageError('Say what to run.', 'lockstep worker --import ./actions.js')
    }
    const actions = await loadDefinitions(file, process.cwd())
    // Refuses a schema that does not fit before anything is claimed.
    await withDatabase(call, async () => {})
    const { connectionString } = findDatabase(call.text('database-file'), call.env, process.cwd())
    const concurrency = call.integer('concurrency') ?? 10
    const queues = call.text('queues')?.split(',')
    const drain = (call.integer('drain') ?? DRAIN_SECONDS) * 1_000
    const lockstep = new Lockstep({
      connectionString,
      logger: loggerTo(call.output),
      encryptionKeys: keysFrom(call.env) ?? undefined,
    })
    try {
      const worker = lockstep.worker({ actions, concurrency, queues, drain })
      await worker.start()
      const names = actions.map((one) => definitionIn(one).name).toSorted()
      call.output.result(
        { event: 'ready', pid: process.pid, concurrency, names },
        () => `The worker runs ${names.join(', ')}`,
      )
      await untilAborted(call.signal)
      await worker.stop()
    } finally {
      await lockstep.close()
    }
    return 0
  },
}
