// The PostgreSQL server of the tests: LOCKSTEP_TEST_URL, or an embedded one that the first asker in a process starts and that
// ends with the process. What killed processes left behind is ended and removed by the next one; others' are never touched.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { threadId } from 'node:worker_threads'
import { endServer } from '../embedded/end-server.ts'
import { PLACE_FILE } from '../embedded/find-running.ts'
import { keepOwner } from '../embedded/keep-owner.ts'
import { readPostmasterFile, servesData } from '../embedded/postmaster-file.ts'
import { startPostgres } from '../embedded/start-postgres.ts'

let embedded: Promise<string> | null = null

/** The connection string of its maintenance database. */
export async function testServer(): Promise<string> {
  const url = process.env['LOCKSTEP_TEST_URL']
  if (url !== undefined && url !== '') return url
  embedded ??= startEmbedded(join(process.cwd(), '.lockstep', 'testing'))
  embedded.catch(() => {
    embedded = null
  })
  return embedded
}

async function startEmbedded(base: string): Promise<string> {
  mkdirSync(base, { recursive: true })
  for (const name of readdirSync(base)) await removeLeft(join(base, name))
  const home = join(base, `${process.pid}-${threadId}`)
  const server = await startPostgres({ home, fast: true })
  // Nothing asynchronous happens any more in an exiting process: an immediate shutdown, and the files go.
  process.once('exit', () => {
    if (servesData(server.pid, server.dataDir)) process.kill(server.pid, 'SIGQUIT')
    for (const folder of [dirname(server.dataDir), home]) remove(folder)
  })
  return server.connectionString
}

/** Of a process that is gone; a living one's folder is in use and stays. */
async function removeLeft(home: string): Promise<void> {
  let giveBack: () => void
  try {
    giveBack = keepOwner(home)
  } catch {
    return
  }
  const file = join(home, PLACE_FILE)
  const place = existsSync(file) ? readFileSync(file, 'utf8').trim() : home
  const left = readPostmasterFile(join(place, 'data'))
  if (left !== null) await endServer(left.pid, join(place, 'data'))
  for (const folder of [place, home]) remove(folder)
  giveBack()
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 })
  } catch {
    // The next process removes it.
  }
}
