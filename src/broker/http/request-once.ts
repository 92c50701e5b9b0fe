// A request with an id is done once: the first committed answer is recorded in the same transaction as its effect, and the
// same id with the same body gets that answer again. What was rolled back is not recorded and is judged anew.
import { createHash } from 'node:crypto'
import { transaction } from '../../db/transaction.ts'
import type { Executor } from '../../db/executor.ts'
import { closeRequest } from '../../operations/close-request.ts'
import { openRequest } from '../../operations/open-request.ts'
import { refuse, root } from '../../protocol/check.ts'
import { requestIdText } from '../../protocol/names.ts'
import { RANK } from '../../traffic/admission.ts'
import type { Call } from './route.ts'

/** The request's id: of the body, or of the Idempotency-Key header; the two may not differ. */
export function requestIdOf(call: Call, ofBody: string | null): string | null {
  const header = call.request.headers['idempotency-key']
  if (header === undefined) return ofBody
  const ofHeader = requestIdText.read(header, root('header '), 'idempotency-key')
  if (ofBody !== null && ofBody !== ofHeader) refuse(root(), 'requestId', 'the same as the Idempotency-Key header')
  return ofHeader
}

/** Of the route, the caller and the body's bytes: the same id may not be used for something else or by somebody else. */
export function bodyHash(call: Call): string {
  return createHash('sha256')
    .update(call.route.path)
    .update('\0')
    .update(call.sub === null ? '' : `${call.sub}\0`)
    .update(call.body)
    .digest('hex')
}

export interface Outcome {
  readonly answer: string
  /** False: nothing was changed and nothing is remembered. */
  readonly commit: boolean
}

class RolledBack {
  readonly answer: string
  constructor(answer: string) {
    this.answer = answer
  }
}

/** In one commit of its own, behind the gate; an answer that changed nothing is rolled back. */
export async function alone(call: Call, work: (db: Executor) => Promise<Outcome>): Promise<string> {
  try {
    const { database, traffic } = call.parts
    return await traffic.admission.enter(RANK.write, () =>
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
export function once(call: Call, id: string, work: (db: Executor) => Promise<Outcome>): Promise<string> {
  return alone(call, async (db) => {
    const { recorded } = await openRequest(db, id, bodyHash(call))
    if (recorded !== null) return { answer: recorded, commit: true }
    const outcome = await work(db)
    if (outcome.commit) await closeRequest(db, id, outcome.answer)
    return outcome
  })
}
