// One setting: a field of the environment with its default and its meaning, so that reading, checking and the reference page
// come from one row.
import type { Field } from '../protocol/check.ts'

export interface Setting<T> extends Field<T> {
  /** For docs/reference/settings.md. */
  readonly about: string
  readonly fallback: string
  /** May also be read from the file that the same name with `_FILE` gives. */
  readonly secret?: true
}

export const setting = <T>(field: Field<T>, fallback: string, about: string): Setting<T> => ({
  ...field,
  fallback,
  about,
})

export const secretSetting = <T>(field: Field<T>, about: string): Setting<T> => ({
  ...setting(field, '', `${about} Or a file, named by the same setting with \`_FILE\`.`),
  secret: true,
})
