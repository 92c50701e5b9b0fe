// Reads the JSON object of effective queue options that the database answers, checked against the table of options.
import { LockstepError } from '../protocol/errors.ts'
import { isRecord } from '../protocol/check.ts'
import type { QueueOptionValues } from '../protocol/queue-info.ts'
import { QUEUE_OPTIONS } from '../protocol/queue-options.ts'

export function readOptions(text: string | null | undefined): QueueOptionValues {
  const value: unknown = JSON.parse(text ?? 'null')
  if (!hasEveryOption(value))
    throw new LockstepError('internal', 'the database answered an incomplete set of queue options')
  return value
}

function hasEveryOption(value: unknown): value is QueueOptionValues {
  return (
    isRecord(value) &&
    Object.entries(QUEUE_OPTIONS).every(([name, { fallback }]) => typeof value[name] === typeof fallback)
  )
}
