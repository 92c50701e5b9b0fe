// The bytes of answers that clients have not taken yet. Readers may be slow or stuck, so a pop looks for messages only while
// there is room: past the bound nothing is leased, and whoever asks is told to come back. It never refuses an answer.
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'

export interface AnswerBytes {
  add(bytes: number): void
  remove(bytes: number): void
  /** Throws `overloaded` when so much waits to be read that no more may be leased. */
  demandRoom(): void
  readonly bytes: number
}

export function createAnswerBytes(bound: number = LIMITS.inFlightAnswerBytes): AnswerBytes {
  let inFlight = 0
  return {
    add(bytes) {
      inFlight += bytes
    },
    remove(bytes) {
      inFlight -= bytes
    },
    demandRoom() {
      if (inFlight < bound) return
      throw new LockstepError('overloaded', `answers of ${bound} bytes have not been read yet; come back later`)
    },
    get bytes() {
      return inFlight
    },
  }
}
