// The text of a notification: who says it and what may be worth a look. JSON, so that a name may hold any character; short,
// because PostgreSQL refuses 8,000 bytes; when the hints do not fit, it says "look everywhere".
import { LIMITS } from '../protocol/limits.ts'

export const CHANNEL = 'lockstep'

export interface HeardHints {
  readonly processId: string
  /** null: look everywhere. */
  readonly hints: readonly string[] | null
}

export function writeHints(processId: string, hints: readonly string[]): string {
  const text = JSON.stringify([processId, hints])
  return Buffer.byteLength(text) <= LIMITS.notifyBytes ? text : JSON.stringify([processId, null])
}

/** null for anything that is no hint: others may use the channel too. */
export function readHints(payload: string): HeardHints | null {
  const value = parsed(payload)
  if (!Array.isArray(value) || value.length !== 2) return null
  const [processId, hints]: unknown[] = value
  if (typeof processId !== 'string') return null
  if (hints === null) return { processId, hints }
  if (!Array.isArray(hints) || !hints.every((hint) => typeof hint === 'string')) return null
  return { processId, hints }
}

function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    return null
  }
}
