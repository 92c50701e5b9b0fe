// Asks before something that cannot be undone. Where nobody can answer, in a script or with --json, it refuses instead of
// guessing and names the line that says yes.

import { createInterface } from 'node:readline/promises'
import type { Call } from './call.ts'
import { UsageError } from './usage-error.ts'

/** Returns when the answer is yes or --yes was given. */
export async function demandYes(call: Call, question: string, lineWithYes: string): Promise<void> {
  if (call.flag('yes')) return
  if (!process.stdin.isTTY || call.output.json) {
    throw new UsageError(`${question} Nobody is there to answer, so nothing was done.`, lineWithYes)
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal: call.signal })
    if (/^y(es)?$/i.test(answer.trim())) return
  } finally {
    terminal.close()
  }
  throw new UsageError('Nothing was done.')
}
