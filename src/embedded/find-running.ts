// Finds the embedded server that runs for a folder, for those who come after it was started: commands beside `lockstep dev`.
// It only reads; a server that is not provably the one of that folder is not found.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SUPERUSER } from './superuser.ts'
import { readPostmasterFile, servesData } from './postmaster-file.ts'

/** In a home whose server had to be put elsewhere, this file holds the path. */
export const PLACE_FILE = 'place'

/** The connection string, or null when none runs there. */
export function findRunning(home: string, database = 'lockstep'): string | null {
  const place = readText(join(home, PLACE_FILE)) ?? home
  const data = join(place, 'data')
  const claim = readPostmasterFile(data)
  const password = readText(join(place, 'postgres-password'))
  if (claim === null || password === null || !servesData(claim.pid, data)) return null
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${claim.port}/${encodeURIComponent(database)}`
}

function readText(file: string): string | null {
  try {
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : null
  } catch {
    return null
  }
}
