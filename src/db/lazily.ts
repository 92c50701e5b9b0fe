// A library's callback transaction turned inside out: opened at its first use, held open while others work in it, ended by
// `commit` or `abort`. The last statement is ours, directly before the library's COMMIT, so that an aborted transaction fails
// there even in a library which reports success for a COMMIT that became a rollback. Nothing is ever sent twice.
import type { Completion, OpenLimits } from '../protocol/completion.ts'
import { LockstepError } from '../protocol/errors.ts'
import type { Door } from './executor.ts'
import { foreignDoor, foreignFault } from './foreign-door.ts'
import { faultOf } from './pg-errors.ts'

export interface OpenedTransaction<Tx> {
  readonly tx: Tx
  readonly door: Door
}

export interface LazyTransaction<Tx> {
  /** Opens it at the first call; the same afterwards. */
  open(): Promise<OpenedTransaction<Tx>>
  readonly opened: boolean
  /**
   * Flushes, runs the last statement, lets the library commit. Only `outcome_unknown` leaves open what became of it; after any
   * other error nothing was committed.
   */
  commit<R>(last: (door: Door) => Promise<R>): Promise<R>
  /** Rolls back what was opened and waits for it; never throws. Nothing after `commit`. */
  abort(): Promise<void>
}

/** What ends the library's callback. */
type Ending = { readonly how: 'commit'; readonly last: (door: Door) => Promise<void> } | { readonly how: 'abort' }

class Aborted extends Error {}

export function lazily<Tx>(completion: Completion<Tx>, limits: OpenLimits): LazyTransaction<Tx> {
  let opening: Promise<OpenedTransaction<Tx>> | null = null
  /** Settles when the library has committed or rolled back. */
  let finished: Promise<void> = Promise.resolve()
  let settled = false
  let ended = false
  let end: (ending: Ending) => void = () => {}
  const ending = new Promise<Ending>((settle) => {
    end = settle
  })

  function begin(): Promise<OpenedTransaction<Tx>> {
    return new Promise((ready, failed) => {
      let entered = false
      const work = async (tx: Tx): Promise<void> => {
        // A library that ran its callback again would do so with statements that only the first one was given.
        if (entered) throw new LockstepError('internal', `${completion.library} ran the transaction's body twice`)
        entered = true
        const door = foreignDoor(completion.door(tx))
        ready({ tx, door })
        const given = await ending
        if (given.how === 'abort') throw new Aborted(`the transaction in ${completion.library} was given up`)
        await completion.flush?.(tx)
        await given.last(door)
      }
      finished = (async () => completion.transaction(work, limits))()
      finished = finished.finally(() => {
        settled = true
      })
      finished
        .then(() =>
          failed(new LockstepError('internal', `${completion.library} ended the transaction before its body`)),
        )
        .catch(failed)
    })
  }

  async function commit<R>(last: (door: Door) => Promise<R>): Promise<R> {
    if (ended) throw new LockstepError('not_a_transaction', 'the transaction has ended')
    await open()
    if (ended) throw new LockstepError('not_a_transaction', 'the transaction has ended')
    ended = true
    let answer: { readonly value: R } | null = null
    // A library that has given up already must not be made to go on.
    if (!settled) {
      end({
        how: 'commit',
        last: async (door) => {
          answer = { value: await last(door) }
        },
      })
    }
    const failure = await finished.then(
      () => null,
      (error: unknown) => ({ error }),
    )
    return outcome(completion.library, answer, failure)
  }

  function open(): Promise<OpenedTransaction<Tx>> {
    if (ended && opening === null) {
      return Promise.reject(new LockstepError('not_a_transaction', 'the transaction has ended'))
    }
    return (opening ??= begin())
  }

  return {
    open,
    commit,
    get opened() {
      return opening !== null
    },
    async abort() {
      if (!ended) {
        ended = true
        // A statement on a lost connection is rejected just before the library's transaction is.
        await new Promise((go) => setImmediate(go))
        if (!settled) end({ how: 'abort' })
      }
      // The library's own words for the abort, or for what it could not undo; the connection is its to drop.
      await opening?.then(
        () => finished.catch(() => {}),
        () => {},
      )
    },
  }
}

function outcome<R>(
  library: string,
  answer: { readonly value: R } | null,
  failure: { readonly error: unknown } | null,
): R {
  if (failure === null) {
    if (answer !== null) return answer.value
    // Knex resolves when its transaction was ended by hand, which also keeps our statement from running.
    throw new LockstepError(
      'not_a_transaction',
      `the ${library} transaction was committed or rolled back before its step had ended; leave that to Lockstep`,
    )
  }
  const { error } = failure
  if (answer === null) throw foreignFault(error)
  const fault = faultOf(error, { commitSent: true })
  throw fault.code === 'outcome_unknown' ? fault : error
}
