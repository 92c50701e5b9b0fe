// Looks at what an earlier run left in a data folder: a server that still answers with our password is taken over, one that
// is ours and does not answer (or has other settings than asked) is stopped, a stale lock file is cleared. A process that is
// not provably the server of this very folder is never touched.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type ServerAnswer, askServer, sameFolder } from './ask-server.ts'
import { endServer } from './end-server.ts'
import { serverArguments } from './launch-server.ts'
import { processAlive, processArguments } from './process-alive.ts'
import { readPostmasterFile, servesData } from './postmaster-file.ts'

export interface Leftover {
  readonly data: string
  readonly password: string
  /** The port that was asked for, or null. */
  readonly port: number | null
  readonly settings: Readonly<Record<string, string>>
  readonly say: (line: string) => void
}

/** The server to use, or null when one has to be started. */
export async function settleLeftover(wish: Leftover): Promise<{ pid: number; port: number } | null> {
  const claim = readPostmasterFile(wish.data)
  if (claim === null) return null
  if (!servesData(claim.pid, wish.data)) {
    wish.say('the last run was killed; PostgreSQL recovers from its log')
    // PostgreSQL clears the lock file of a dead process itself. It cannot when the id now belongs to another program.
    if (processAlive(claim.pid)) rmSync(join(wish.data, 'postmaster.pid'), { force: true })
    return null
  }
  const answer = await waitAnswer(claim.pid, wish)
  const port = readPostmasterFile(wish.data)?.port ?? claim.port
  const fits =
    answer !== null &&
    sameFolder(answer.data, wish.data) &&
    (wish.port === null || wish.port === port) &&
    processArguments(claim.pid)
      .join(' ')
      .endsWith(serverArguments(wish.data, wish.settings, port).join(' '))
  if (fits) {
    wish.say(`taking over the PostgreSQL that an earlier run left on port ${port}`)
    return { pid: claim.pid, port }
  }
  wish.say(
    `stopping the PostgreSQL that an earlier run left on port ${port} (${answer === null ? 'it does not answer' : 'other settings were asked for'})`,
  )
  await endServer(claim.pid, wish.data)
  return null
}

/** A server may still be recovering: as long as it says so it is given time, else two tries. */
async function waitAnswer(pid: number, wish: Leftover): Promise<ServerAnswer | null> {
  const until = performance.now() + 120_000
  for (let misses = 0; misses < 2 && performance.now() < until;) {
    const claim = readPostmasterFile(wish.data)
    if (claim === null || !servesData(pid, wish.data)) return null
    if (claim.status !== 'starting') {
      const answer = await askServer(claim.port, wish.password, 3_000)
      if ('data' in answer) return answer
      if (answer.code !== '57P03') misses++
    }
    await pause(200)
  }
  return null
}
