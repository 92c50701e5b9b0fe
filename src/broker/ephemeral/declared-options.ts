// What is declared of ephemeral queues, read like any input: options that no longer pass the door fall back to the defaults,
// so that one row cannot take the whole family down.
import type { Executor } from '../../db/executor.ts'
import { declaredEphemeral } from '../../operations/declared-ephemeral.ts'
import { ephemeralOptions } from '../../protocol/ephemeral-options.ts'
import { EPHEMERAL_DEFAULTS } from '../../protocol/ephemeral.ts'
import type { EphemeralOptions } from '../../protocol/ephemeral.ts'

export async function declaredOptions(db: Executor): Promise<ReadonlyMap<string, EphemeralOptions>> {
  const found = await declaredEphemeral(db)
  return new Map([...found].map(([name, text]) => [name, readOptions(text)]))
}

function readOptions(text: string): EphemeralOptions {
  try {
    return ephemeralOptions(JSON.parse(text))
  } catch {
    return EPHEMERAL_DEFAULTS
  }
}
