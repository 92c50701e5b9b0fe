// Decides where the server's files lie and as whom it runs, before anything is started. Usually that is the folder that was
// asked for; only root without user namespaces is sent elsewhere, and the place is then always the same one and is named.

import { createHash } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type Account,
  type AccountName,
  NAMESPACE,
  SELF,
  entryRefusal,
  nobodyAccount,
  ownerAccount,
  refusal,
  runsAsRoot,
} from './choose-account.ts'
import { embeddedError, reasonOf } from './embedded-error.ts'
import { PLACE_FILE } from './find-running.ts'
import { type Binaries, findBinaries } from './find-binaries.ts'

export interface Place {
  readonly account: Account
  /** Holds the data folder, the password, the log, and links or copies of binaries. */
  readonly home: string
  readonly binaries: Binaries
}

/** `say` gets a line when the place is not the one that was asked for. */
export async function choosePlace(
  home: string,
  folder: string | null,
  account: AccountName | null,
  say: (line: string) => void,
): Promise<Place> {
  makeFolder(home, 0o700)
  const binaries = await findBinaries(folder, home)
  if (!runsAsRoot()) return { account: SELF, home, binaries }

  const owner = ownerAccount(join(home, 'data'))
  if (owner !== null && owner.ids?.uid !== nobodyAccount().ids?.uid) return placeForOwner(owner, home, binaries)

  let why = owner === null ? 'it was asked to' : 'its data belongs to nobody'
  if (account !== 'nobody' && owner === null) {
    const refused =
      refusal(NAMESPACE, [join(binaries.root, 'bin', 'postgres'), '--version'], binaries.libraryPath) ??
      entryRefusal(NAMESPACE, home)
    if (refused === null) return { account: NAMESPACE, home, binaries }
    why = `root may not start it here in a user namespace (${refused})`
  }
  return await placeForNobody(home, binaries, why, say)
}

/** Root cannot serve the data of an ordinary user in a namespace, and must not take it away from him: it becomes him. */
function placeForOwner(account: Account, home: string, binaries: Binaries): Place {
  const refused =
    refusal(account, [join(binaries.root, 'bin', 'postgres'), '--version'], binaries.libraryPath) ??
    entryRefusal(account, home)
  if (refused === null) return { account, home, binaries }
  const uid = account.ids?.uid ?? 0
  throw embeddedError(
    `The data in ${home} belongs to the user with id ${uid}, as whom PostgreSQL cannot run here (${refused}).`,
    `Run as that user, or give the data to root: chown -R 0:0 ${home}`,
  )
}

async function placeForNobody(
  home: string,
  binaries: Binaries,
  why: string,
  say: (line: string) => void,
): Promise<Place> {
  const account = nobodyAccount()
  const able = refusal(account, ['/bin/sh', '-c', ':'], null)
  if (able !== null) {
    throw embeddedError(
      `PostgreSQL refuses to run as root, ${why}, and it cannot run as nobody either (${able}).`,
      'Run as an ordinary user, or set DATABASE_URL to a server of your own.',
    )
  }
  const place = enterableFolder(account, home)
  if (place !== home) writeFileSync(join(home, PLACE_FILE), `${place}\n`)
  let root = binaries.root
  if (refusal(account, [join(root, 'bin', 'postgres'), '--version'], binaries.libraryPath) !== null) {
    root = copyBinaries(binaries, place)
  }
  say(`PostgreSQL runs as nobody because ${why}; its data is in ${place}, its binaries in ${root}`)
  return { account, home: place, binaries: root === binaries.root ? binaries : await findBinaries(root, place) }
}

/** The folder that was asked for, or the first of a fixed list, always the same for the same wish. */
function enterableFolder(account: Account, home: string): string {
  const mark = createHash('sha256').update(home).digest('hex').slice(0, 12)
  const bases = ['/var/lib', '/opt', '/srv', '/usr/local/lib', '/var/tmp']
  const tried: string[] = []
  for (const place of [home, ...bases.map((base) => join(base, `lockstep-${mark}`))]) {
    try {
      if (place !== home && !existsSync(dirname(place))) continue
      makeFolder(place, 0o711)
      chmodSync(place, 0o711)
      const refused = entryRefusal(account, place)
      if (refused === null) return place
      tried.push(`${place}: ${refused}`)
      if (place !== home) rmSync(place, { recursive: true, force: true })
    } catch (error) {
      tried.push(`${place}: ${reasonOf(error)}`)
    }
  }
  throw embeddedError(`PostgreSQL cannot run as nobody: it can enter none of these folders.\n${tried.join('\n')}`)
}

function copyBinaries(binaries: Binaries, place: string): string {
  const copy = join(place, `postgres-${binaries.version}`)
  if (existsSync(copy)) return join(copy, 'native')
  const half = `${copy}.${process.pid}`
  try {
    mkdirSync(half, { mode: 0o755 })
    cpSync(binaries.root, join(half, 'native'), { recursive: true, verbatimSymlinks: true })
    chmodSync(half, 0o755)
    renameSync(half, copy)
    return join(copy, 'native')
  } catch (error) {
    rmSync(half, { recursive: true, force: true })
    throw embeddedError(`The PostgreSQL binaries cannot be copied to ${copy}: ${reasonOf(error)}.`, '', error)
  }
}

function makeFolder(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { recursive: true, mode })
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw embeddedError(
      `The folder ${folder} for PostgreSQL's data cannot be used: ${reasonOf(error)}.`,
      'Name a folder that can be written.',
      error,
    )
  }
}

/** A fresh data folder takes about 40 MB; the first write-ahead segments another 32. */
export function demandSpace(folder: string): void {
  const { bavail, bsize } = statfsSync(folder)
  const free = Math.floor((bavail * bsize) / (1024 * 1024))
  if (free < 128) {
    throw embeddedError(
      `The disk of ${folder} has ${free} MB free; PostgreSQL needs 128 MB to begin.`,
      'Free some space or name a folder on another disk.',
    )
  }
}
