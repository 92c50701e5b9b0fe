// Breaks the laws on purpose, one fault at a time in a copy of the built checkout, and demands that the named test fails for
// it. A rig that does not notice a fault is not ready. Use: node .build/tools/plant-faults.js
// ['words of a fault' …]
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../src/db/sql-files.ts'
import { startPostgres } from '../src/embedded/start-postgres.ts'
import { GUARDED } from './faults/guarded.ts'
import { PLANTED, type PlantedFault } from './faults/planted.ts'

const root = packageRoot()
const home = join(root, '.lockstep', 'faults', String(process.pid))
const copy = join(home, 'copy')
const wanted = process.argv.slice(2)

/** What the run of the test says: passed, failed on a database of its own, or never came so far. */
type End = 'passed' | 'failed' | 'broken'

process.exitCode = await plantAll()

async function plantAll(): Promise<number> {
  const faults = [...PLANTED, ...GUARDED].filter(
    ({ what, law }) => wanted.length === 0 || wanted.some((words) => `law ${law}: ${what}`.includes(words)),
  )
  if (faults.length === 0) {
    console.error(`no planted fault has the words ${wanted.join(', ')}`)
    return 1
  }
  mkdirSync(copy, { recursive: true })
  for (const part of ['sql', '.build', 'package.json']) cpSync(join(root, part), join(copy, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const server = await startPostgres({ home: join(home, 'postgres'), fast: true })
  let missed = 0
  try {
    for (const fault of faults) {
      const verdict = plant(fault, server.connectionString)
      if (verdict !== null) missed++
      console.log(`${verdict === null ? 'caught' : 'NOT CAUGHT'}  law ${fault.law}: ${fault.what}${verdict ?? ''}`)
    }
  } finally {
    await server.stop()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
  console.log(`${faults.length - missed} of ${faults.length} planted faults were caught`)
  return missed === 0 ? 0 : 1
}

/** Null when the fault was caught, else why not. */
function plant(fault: PlantedFault, url: string): string | null {
  const path = join(copy, fault.file)
  const sound = readFileSync(path, 'utf8')
  if (!sound.includes(fault.from)) return ` (${fault.file} no longer holds the text to change)`
  try {
    writeFileSync(
      path,
      sound.replace(fault.from, () => fault.to),
    )
    const end = runTest(fault, url)
    if (end === 'passed') return ` (the test passes with it)`
    return end === 'broken' ? ' (nothing could be tested: the fault does not even load, or no test has the name)' : null
  } finally {
    writeFileSync(path, sound)
  }
}

function runTest({ caught: [file, name] }: PlantedFault, url: string): End {
  const pattern = name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  const test = join(copy, '.build', `${file}.test.js`)
  // Without the mark by which a test runner inside another speaks to it in its own format.
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  const run = spawnSync(process.execPath, ['--test', '--test-reporter=tap', `--test-name-pattern=${pattern}`, test], {
    encoding: 'utf8',
    env: { ...environment, LOCKSTEP_TEST_URL: url, LOCKSTEP_LONG: '' },
    timeout: 180_000,
  })
  if (run.status === 0) return /^# pass [1-9]/m.test(run.stdout) ? 'passed' : 'broken'
  // Its database was made, so the fault loads; and the test itself failed.
  return run.stdout.includes('kept database:') ? 'failed' : 'broken'
}
