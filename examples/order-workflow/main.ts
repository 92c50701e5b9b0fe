// What `npm start` runs: an embedded PostgreSQL, a broker, and the order workflow against it, each promise verified and
// printed. Then the broker stays up until Ctrl-C; with `--once` the program ends, with status 0 when every fact held.

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Lockstep } from 'lockstep'
import { packageRoot } from '../../src/db/sql-files.ts'
import { createOutput } from '../../src/cli/output.ts'
import { errorText, explainError } from '../../src/cli/explain-error.ts'
import { startDev } from '../../src/cli/start-dev.ts'
import { untilAborted } from '../../src/cli/until-aborted.ts'
import { watchInterrupt } from '../../src/cli/watch-interrupt.ts'
import { UsageError } from '../../src/cli/usage-error.ts'
import { checkFacts } from './check-facts.ts'

const output = createOutput(false)

const USAGE = 'npm start -- [--once] [--port N] [--data DIR]'

async function main(): Promise<void> {
  if (process.argv.slice(2).some((word) => word === '--help' || word === '-h')) {
    output.result(null, () => `usage: ${USAGE}`)
    return
  }
  const { once, port, home } = readWords(process.argv.slice(2))
  const stopping = watchInterrupt()

  const running = await startDev({
    home,
    port,
    command: 'npm start --',
    say: (line) => output.progress(line),
  })
  try {
    output.progress(`the broker listens on ${running.address}; running the order workflow against it`)
    const lockstep = new Lockstep({ url: running.address })
    let facts = 0
    try {
      await checkFacts(lockstep, Date.now().toString(36), (fact) => {
        facts++
        output.result(null, () => `${output.styled('green', '✓')} ${fact}`)
      })
    } finally {
      await lockstep.close()
    }
    output.result(null, () => `\n${facts} facts verified.`)
    if (once || stopping.signal.aborted) return
    output.result(null, () =>
      [
        `The broker is up: ${output.styled('bold', running.address)}`,
        '  node dist/cli/main.js queue list',
        `  node dist/cli/main.js queue push hello '{"to":"world"}'`,
        '  node dist/cli/main.js queue pop hello',
        'The connection string of its PostgreSQL, for your own programs:',
        '  export DATABASE_URL="$(node dist/cli/main.js url --password)"',
        'Ctrl-C stops it.',
      ].join('\n'),
    )
    await untilAborted(stopping.signal, running.lost)
    output.progress('stopping the broker, then PostgreSQL')
  } finally {
    await running.stop()
    output.progress('stopped')
  }
}

function readWords(words: readonly string[]): { once: boolean; port: number | null; home: string } {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: { once: { type: 'boolean' }, port: { type: 'string' }, data: { type: 'string' } },
    })
    const port = values.port === undefined ? null : Number(values.port)
    if (port !== null && !(Number.isInteger(port) && port >= 1 && port <= 65_535)) {
      throw new UsageError(`--port must be a whole number from 1 to 65535; got '${values.port ?? ''}'.`)
    }
    return { once: values.once === true, port, home: values.data ?? join(packageRoot(), '.lockstep') }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(error instanceof Error ? error.message : 'The arguments cannot be read.', USAGE)
  }
}

try {
  await main()
} catch (error) {
  const explained = explainError(error)
  output.error(errorText(explained))
  process.exitCode = explained.status
}
