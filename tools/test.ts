// Runs the compiled tests: one PostgreSQL for all of them, the SQL core also on older servers, one closing summary of
// node:test. Use: node .build/tools/test.js [--long] [--only-main] [file …], or --serve <folder> for a kept server.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { spec } from 'node:test/reporters'
import { startPostgres, type RunningPostgres } from '../src/embedded/start-postgres.ts'
import { packageRoot } from '../src/db/sql-files.ts'
import { fetchPostgres } from './tests/fetch-postgres.ts'
import { isCore, listTests } from './tests/list-tests.ts'
import { runRounds, type Round, type Verdict } from './tests/run-rounds.ts'

const OLDER = ['14.23', '16.14']
const ALL_OLDER = ['14.23', '15.18', '16.14', '17.10']

const root = packageRoot()
const args = process.argv.slice(2)
const long = args.includes('--long')
const named = args.filter((arg) => !arg.startsWith('--'))

const USAGE = `usage: node .build/tools/test.js [--long] [--only-main] [path part …]
       node .build/tools/test.js --serve <folder>

  --long        every race, round and order, and the SQL core on all five PostgreSQL
  --only-main   on PostgreSQL 18 alone
  --serve       start the server that a failed run kept
`
const strange = args.find((arg) => arg.startsWith('--') && !['--long', '--only-main', '--serve'].includes(arg))

// A signal ends the run through 'exit', where the servers it started are ended too.
if (strange === undefined && !args.includes('--serve')) {
  for (const [signal, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const)
    process.once(signal, () => process.exit(128 + number))
}

if (strange === '--help') console.log(USAGE)
else if (strange !== undefined) {
  console.error(`there is no ${strange}\n\n${USAGE}`)
  process.exitCode = 1
} else if (args.includes('--serve')) await serve(named[0])
else process.exitCode = await test()

async function test(): Promise<number> {
  const files = listTests(join(root, '.build'), named)
  if (files.length === 0) {
    console.error(`no compiled test matches ${named.join(' ') || '.build/'}: build first (npm run build:all)`)
    return 1
  }
  if (long) process.env['LOCKSTEP_LONG'] = '1'
  process.env['NODE_OPTIONS'] = `${process.env['NODE_OPTIONS'] ?? ''} --enable-source-maps`.trim()
  const home = join(root, '.lockstep', 'test', String(process.pid))
  removeEarlier(dirname(home))
  const servers: RunningPostgres[] = []
  const rounds: Round[] = []
  const given = process.env['LOCKSTEP_TEST_URL'] ?? ''

  async function start(version: string, binaries?: string): Promise<string> {
    const server = await startPostgres({
      home: join(home, version),
      fast: true,
      ...(binaries === undefined ? {} : { binaries }),
    })
    servers.push(server)
    return server.connectionString
  }

  let verdict: Verdict = { failed: [], kept: [] }
  try {
    const core = files.filter((file) => isCore(relative(join(root, '.build'), file)))
    if (given === '' && !args.includes('--only-main') && named.length === 0) {
      for (const version of long ? ALL_OLDER : OLDER) {
        const binaries = await fetchPostgres(root, version)
        if (binaries === null) continue
        rounds.push({ label: `PostgreSQL ${version}`, url: () => start(version, binaries), files: core })
      }
    }
    rounds.push({ label: 'all', url: async () => (given === '' ? start('main') : given), files })
    const report = Readable.from(runRounds(rounds, long, (result) => (verdict = result))).compose(new spec())
    for await (const chunk of report) process.stdout.write(String(chunk))
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
    if (verdict.kept.length === 0) rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
  tellFailures(verdict, home, given)
  return verdict.failed.length === 0 ? 0 : 1
}

function tellFailures({ failed, kept }: Verdict, home: string, given: string): void {
  for (const file of failed) console.error(`replay: node .build/tools/test.js ${relative(root, file)}`)
  for (const database of kept) console.error(database)
  if (kept.length > 0 && given === '') {
    console.error(`open them with: node .build/tools/test.js --serve ${relative(root, join(home, 'main'))}`)
  }
}

/** What failed runs before this one kept, unless a server still runs there. */
function removeEarlier(folder: string): void {
  if (!existsSync(folder)) return
  for (const run of readdirSync(folder)) {
    const inUse = readdirSync(join(folder, run)).some((server) =>
      existsSync(join(folder, run, server, 'data', 'postmaster.pid')),
    )
    if (!inUse) rmSync(join(folder, run), { recursive: true, force: true, maxRetries: 5 })
  }
}

async function serve(folder: string | undefined): Promise<void> {
  if (folder === undefined) throw new Error('--serve needs the folder that a failed run named')
  const server = await startPostgres({ home: resolve(root, folder), fast: true })
  console.log(server.connectionString)
  // A listener for a signal keeps no process alive.
  const alive = setInterval(() => {}, 2 ** 30)
  await new Promise<void>((done) => process.once('SIGINT', done))
  clearInterval(alive)
  await server.stop()
}
