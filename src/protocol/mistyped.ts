// Tells the two ways apart in which the texts of one item of a list can be wrong: one that is no text at all comes from a program
// that is wrong, and refuses the request; one that is too long, or cannot be kept, is wrong by itself and the answer of its item.
import type { Field } from './check.ts'

/** Whether one of these texts is missing or no text. */
export function mistyped(
  texts: Readonly<Record<string, Field<string | null>>>,
  source: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(texts).some(([name, { optional }]) => {
    const value = Object.hasOwn(source, name) ? source[name] : undefined
    return typeof value !== 'string' && !(optional && (value === undefined || value === null))
  })
}
