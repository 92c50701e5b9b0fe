// One commit of its own, behind the gate, for what is not joined with others. With a request id the first committed answer is
// recorded in the same transaction as its effect, and the same id with the same body gets that answer again; what was rolled back
// is not recorded and is judged anew.
import type { Executor } from '../db/executor.ts'
import type { Database } from '../db/pool.ts'
import { transaction } from '../db/transaction.ts'
import { closeRequest } from '../operations/close-request.ts'
import { openRequest } from '../operations/open-request.ts'
import { RANK } from './admission.ts'
import type { Admission } from './admission.ts'

export interface Outcome {
  readonly answer: string
  /** False: nothing was changed and nothing is remembered. */
  readonly commit: boolean
}

export type Work = (db: Executor) => Promise<Outcome>

export interface Request {
  readonly id: string
  /** Hex digest of what was asked, by whom. */
  readonly bodyHash: string
}

class RolledBack {
  readonly answer: string
  constructor(answer: string) {
    this.answer = answer
  }
}

/** An answer that changed nothing is rolled back. */
export async function doneAlone(database: Database, admission: Admission, work: Work): Promise<string> {
  try {
    return await admission.enter(RANK.write, () =>
      transaction(database, async (db) => {
        const { answer, commit } = await work(db)
        if (!commit) throw new RolledBack(answer)
        return answer
      }),
    )
  } catch (error) {
    if (error instanceof RolledBack) return error.answer
    throw error
  }
}

/** The same, and the first committed answer under the request id is that of every repeat. */
export async function doneOnce(
  database: Database,
  admission: Admission,
  request: Request,
  work: Work,
): Promise<string> {
  return doneAlone(database, admission, async (db) => {
    const { recorded } = await openRequest(db, request.id, request.bodyHash)
    if (recorded !== null) return { answer: recorded, commit: true }
    const outcome = await work(db)
    if (outcome.commit) await closeRequest(db, request.id, outcome.answer)
    return outcome
  })
}
