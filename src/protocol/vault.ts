// Payloads at rest: what a process with keys does to those of encrypted queues. Types only; the keys are in db/vault.

/** What a sealed payload is bound to: moved to any other place it cannot be opened. */
export interface SealPlace {
  readonly queue: string
  readonly partition: string
  /** Of the message, known before it is stored. */
  readonly messageId: string
}

/** What is to be stored in a place. */
export interface Sealable extends SealPlace {
  /** Null: the message id. */
  readonly transactionId: string | null
  readonly payload: string
}

/** Which of the queues are encrypted; the keys are told by name and mark where they may be made known. */
export type AskEncrypted = (
  queues: readonly string[],
  keys: readonly string[],
  marks: readonly string[],
) => Promise<readonly string[]>

export interface Vault {
  /** Names of the keys, the current one first. */
  readonly keys: readonly string[]
  /** Seals the payloads whose queue is encrypted; asks only for queues of which nothing is known. */
  sealAll<T extends Sealable>(items: readonly T[], ask: AskEncrypted): Promise<readonly T[]>
  seal(item: Sealable): string
  /** Throws `encryption_key_missing` or `payload_tampered`; a plain payload is given back as it is. */
  open(place: SealPlace, payload: string): string
  /** What was believed of these queues is wrong. */
  forget(queues: readonly string[]): void
}
