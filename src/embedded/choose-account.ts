// Decides under which account the server runs. PostgreSQL refuses root, so root gives it a user namespace in which it is
// nobody while the file system still sees root: nothing is copied, and folders that only root may enter stay reachable.
// Where that is refused, the server becomes nobody for real, and its files lie where nobody can go.

import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { smallEnvironment } from './small-environment.ts'

export type AccountName = 'self' | 'namespace' | 'nobody' | 'owner'

export interface Account {
  readonly name: AccountName
  /** Words put before a command line. */
  readonly prefix: readonly string[]
  /** Spawn options: the ids to become. */
  readonly ids: { readonly uid: number; readonly gid: number } | null
}

export const SELF: Account = { name: 'self', prefix: [], ids: null }

export const NAMESPACE: Account = {
  name: 'namespace',
  // unshare execs the command: the process id that is spawned is PostgreSQL's own.
  prefix: ['unshare', '--user', '--map-user=65534', '--map-group=65534'],
  ids: null,
}

/** The account `nobody` of this system. */
export function nobodyAccount(): Account {
  let uid = 65_534
  let gid = 65_534
  try {
    const line = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))
    if (line !== null) [uid, gid] = [Number(line[1]), Number(line[2])]
  } catch {
    // No such file in a bare container: the ids are the same everywhere that matters.
  }
  return { name: 'nobody', prefix: [], ids: { uid, gid } }
}

/** The account that made the data, when root comes to data of an ordinary user; null when that was root itself. */
export function ownerAccount(data: string): Account | null {
  const entry = statSync(data, { throwIfNoEntry: false })
  if (entry === undefined || entry.uid === 0) return null
  return { name: 'owner', prefix: [], ids: { uid: entry.uid, gid: entry.gid } }
}

export function runsAsRoot(): boolean {
  return process.getuid?.() === 0
}

/** Null when the account can run that command, else the reason in the words of the system. */
export function refusal(account: Account, command: readonly string[], libraryPath: string | null): string | null {
  const [file = '', ...args] = [...account.prefix, ...command]
  const tried = spawnSync(file, args, {
    env: smallEnvironment(libraryPath),
    cwd: '/',
    encoding: 'utf8',
    timeout: 20_000,
    ...account.ids,
  })
  if (tried.error !== undefined) return tried.error.message
  if (tried.status === 0) return null
  return tried.stderr.trim() || `${file} ended with status ${tried.status ?? tried.signal ?? 'unknown'}`
}

/** Null when the account can enter that folder. */
export function entryRefusal(account: Account, folder: string): string | null {
  return refusal(account, ['/bin/sh', '-c', 'cd "$1"', 'sh', folder], null)
}
