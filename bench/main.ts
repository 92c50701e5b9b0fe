// The benchmark: embedded PostgreSQL with full durability, the broker and the load generator as processes of their own, on
// the same cores.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { migrate } from '../src/db/migrate/migrate.ts'
import { openDatabase } from '../src/db/pool.ts'
import { startPostgres } from '../src/embedded/start-postgres.ts'
import { chosen, isRefusal, secondsOf } from './choice.ts'
import { describeMachine } from './machine.ts'
import { runPeers } from './peers/run-peers.ts'
import { report } from './report.ts'
import { startBroker, startChild, startEcho } from './rows/child.ts'
import { measure } from './rows/measure.ts'
import type { Measured } from './rows/measure.ts'
import type { Row } from './rows/row.ts'
import { ROWS } from './rows/rows.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const SETTINGS = { synchronous_commit: 'on', fsync: 'on', shared_buffers: '1GB' } as const

// A database of its own each time, so that no run inherits the bloat of another.
const DATABASE = `bench_${Date.now()}`

const USAGE = `usage: npm run bench -- [--list] [--only name,…] [--seconds n] [--keep]
       npm run bench -- peers [--list] [--only name,…] [--peers 'name;…'] [--seconds n] [--json] [--keep]

  --list       name the rows and end
  --only       run these
  --peers      beside these systems
  --seconds n  length of a row's window, 1 to 600
  --json       print the figures as JSON
  --keep       write the table into bench/results
`

try {
  if (process.argv.includes('--help')) console.log(USAGE)
  else if (process.argv[2] === 'peers') await runPeers(root, process.argv.slice(3))
  else await main()
} catch (error) {
  if (!isRefusal(error)) throw error
  console.error(`${error.message}\n\n${USAGE}`)
  process.exitCode = 1
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      list: { type: 'boolean', default: false },
      only: { type: 'string' },
      seconds: { type: 'string', default: '6' },
      keep: { type: 'boolean', default: false },
    },
  })
  if (values.list) {
    for (const row of ROWS) console.log(`${row.name.padEnd(20)} ${row.what}`)
    return
  }
  await run(chosen(ROWS, values.only), secondsOf(values.seconds), values.keep)
}

async function run(rows: readonly Row[], seconds: number, keep: boolean): Promise<void> {
  const home = join(root, '.lockstep', 'bench')
  mkdirSync(home, { recursive: true })
  const machine = describeMachine(root, home)
  const postgres = await startPostgres({
    home,
    database: DATABASE,
    settings: SETTINGS,
    onProgress: console.error,
  })
  const stops: (() => Promise<void>)[] = [() => dropDatabase(postgres.connectionString), () => postgres.stop()]
  try {
    const database = openDatabase({ connectionString: postgres.connectionString, connections: 1 })
    await migrate(database)
    await database.close()
    const start = (): ReturnType<typeof startBroker> =>
      startBroker(join(root, 'dist', 'cli', 'main.js'), postgres.connectionString)
    const broker = rows.some((row) => row.server === 'broker' && row.ownBroker !== true) ? await start() : null
    if (broker !== null) stops.unshift(() => broker.stop())
    const echo = await startEcho(join(root, '.build', 'bench', 'baseline', 'echo-process.js'))
    stops.unshift(() => echo.stop())
    const load = startChild(join(root, '.build', 'bench', 'load', 'load-process.js'))
    stops.unshift(() => load.stop())

    const measured: Measured[] = []
    for (const row of rows) {
      const own = row.ownBroker === true ? await start() : null
      const one = await measure(
        {
          connectionString: postgres.connectionString,
          postgresPid: postgres.pid,
          seconds,
          load,
          broker: own ?? broker,
          echo,
        },
        row,
        `bench-${row.name}`,
      )
      await own?.stop()
      measured.push(one)
      const { figures } = one.outcome
      console.error(
        `${row.name.padEnd(20)} ${one.rate.toFixed(0).padStart(8)} ${row.unit.padEnd(15)} p50 ${figures.p50.toFixed(2)} p99 ${figures.p99.toFixed(2)} rss ${(one.brokerBytes / 1e6).toFixed(0)} MB, cpu us/unit ${one.cpu.load.toFixed(1)} / ${one.cpu.broker.toFixed(1)} / ${one.cpu.postgres.toFixed(1)}${figures.errors > 0 ? ` ERRORS ${figures.errors}: ${figures.firstError ?? ''}` : ''}`,
      )
    }
    const date = new Date().toISOString().slice(0, 10)
    const text = report({ machine, postgres: postgres.version, settings: SETTINGS, date, seconds }, measured)
    console.log(text)
    if (keep) {
      const path = join(root, 'bench', 'results', `${date}-${machine.commit}.md`)
      writeFileSync(path, text)
      console.error(`written to ${path}`)
    }
  } finally {
    for (const stop of stops) await stop()
  }
}

async function dropDatabase(connectionString: string): Promise<void> {
  const url = new URL(connectionString)
  url.pathname = '/postgres'
  const client = new Client({ connectionString: url.href })
  await client.connect()
  await client.query(`drop database ${DATABASE} with (force)`)
  await client.end()
}
