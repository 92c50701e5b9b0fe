// Reads a point in time that a person typed: with its time zone, because the database's and this machine's may differ.

import { UsageError } from './usage-error.ts'

/** The text as it is, once it is known to be an instant. */
export function readInstant(text: string, option: string): string {
  const shaped = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(text)
  if (shaped && !Number.isNaN(Date.parse(text))) return text
  throw new UsageError(
    `${option} must be an instant with its time zone; got '${text}'.`,
    `${option} ${new Date(Math.floor(Date.now() / 60_000) * 60_000).toISOString().replace('.000', '')}`,
  )
}
