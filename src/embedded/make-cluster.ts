// Makes a fresh data folder with initdb. It is made under another name and renamed when it is whole, so that a run killed in
// the middle leaves nothing that a later one could take for data.

import { spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from './choose-place.ts'
import { demandSpace } from './choose-place.ts'
import { embeddedError, reasonOf } from './embedded-error.ts'
import type { Password } from './keep-password.ts'
import { explainLog } from './read-log.ts'
import { smallEnvironment } from './small-environment.ts'
import { SUPERUSER } from './superuser.ts'

/** The major version of a data folder, or null when there is none. */
export function clusterVersion(data: string): number | null {
  const file = join(data, 'PG_VERSION')
  return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) : null
}

/** Makes `data`. `fast` leaves out the flush to disk. */
export async function makeCluster(place: Place, data: string, password: Password, fast: boolean): Promise<void> {
  demandSpace(place.home)
  const half = `${data}.new`
  try {
    rmSync(half, { recursive: true, force: true })
    mkdirSync(half, { mode: 0o700 })
    const { ids } = place.account
    if (ids !== null) {
      chownSync(half, ids.uid, ids.gid)
      chownSync(password.file, ids.uid, ids.gid)
    }
    const locales = localesOf(place.binaries.major)
    for (const [index, locale] of locales.entries()) {
      const output = await runInitdb(place, [
        '-D',
        half,
        `--username=${SUPERUSER}`,
        `--pwfile=${password.file}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--lc-messages=C',
        ...locale,
        ...(fast ? ['--no-sync'] : []),
      ])
      if (output === null) break
      if (index < locales.length - 1 && /invalid locale name|could not be set/i.test(output)) continue
      throw embeddedError(`PostgreSQL's data folder ${data} cannot be made: ${explainLog(output, place.home)}`)
    }
    if (ids !== null) chownSync(password.file, process.getuid?.() ?? 0, process.getgid?.() ?? 0)
    renameSync(half, data)
  } catch (error) {
    rmSync(half, { recursive: true, force: true })
    if (error instanceof Error && error.name === 'LockstepError') throw error
    throw embeddedError(`PostgreSQL's data folder ${data} cannot be made: ${reasonOf(error)}.`, '', error)
  }
}

/** The builtin provider orders by code point on every system; before 17 the C library's C.UTF-8 does, where it exists. */
function localesOf(major: number): string[][] {
  if (major >= 17) return [['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']]
  return [['--locale=C.UTF-8'], ['--locale=C']]
}

/** Null when it went well, else everything it printed. */
function runInitdb(place: Place, args: readonly string[]): Promise<string | null> {
  const { account, binaries } = place
  const [file = '', ...words] = [...account.prefix, join(binaries.root, 'bin', 'initdb'), ...args]
  return new Promise((done, fail) => {
    const child = spawn(file, words, {
      cwd: place.home,
      env: smallEnvironment(binaries.libraryPath),
      stdio: ['ignore', 'pipe', 'pipe'],
      // It takes a second or two; a disk that does not answer must not hold us for ever.
      timeout: 300_000,
      ...account.ids,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.once('error', fail)
    child.once('close', (status, signal) =>
      done(status === 0 ? null : output.trim() || `initdb ended with ${signal ?? `status ${status ?? 'unknown'}`}`),
    )
  })
}
