// One process at a time owns an embedded server. A file beside the data names the owner, so that a second `lockstep dev` on
// the same folder is told about the first, while what a killed run left is free to be taken over.

import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { embeddedError, reasonOf, systemCode } from './embedded-error.ts'
import { processAlive, processBirth } from './process-alive.ts'

/** Takes the folder for this process; the answer gives it back. */
export function keepOwner(home: string): () => void {
  const file = join(home, 'owner')
  const mine = `${process.pid} ${processBirth(process.pid)}`
  // linkSync fails when the name exists: two processes that start together cannot both succeed.
  const draft = `${file}.${process.pid}`
  try {
    writeFileSync(draft, mine)
    for (let attempt = 0; attempt < 3; attempt++) {
      if (tryLink(draft, file)) return () => release(file, mine)
      const pid = livingOwner(file, mine)
      if (pid === process.pid) return () => release(file, mine)
      if (pid !== null) {
        throw embeddedError(
          `The PostgreSQL in ${home} is in use by another running process (${pid}).`,
          'Stop that one first, or name another data folder.',
        )
      }
      rmSync(file, { force: true })
    }
    throw embeddedError(`Several processes try to start the PostgreSQL in ${home} at once.`, 'Start one of them.')
  } catch (error) {
    if (error instanceof Error && error.name === 'LockstepError') throw error
    throw embeddedError(`The folder ${home} for PostgreSQL's data cannot be written: ${reasonOf(error)}.`, '', error)
  } finally {
    rmSync(draft, { force: true })
  }
}

function tryLink(draft: string, file: string): boolean {
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
}

/** The owner's process id when it still runs. */
function livingOwner(file: string, mine: string): number | null {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return null
  }
  if (text === mine) return process.pid
  const [word = '', ...birth] = text.split(' ')
  const pid = Number.parseInt(word, 10)
  return pid > 0 && processAlive(pid) && processBirth(pid) === birth.join(' ') ? pid : null
}

function release(file: string, mine: string): void {
  try {
    if (readFileSync(file, 'utf8') === mine) rmSync(file, { force: true })
  } catch {
    // Already gone with its folder.
  }
}
