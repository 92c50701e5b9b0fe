// Secrets from files: a setting `X` that is secret may be given as `X_FILE`, the name of a file that holds it, as containers
// mount them. A message names the setting and the reason, never what a file holds.
import { readFileSync, statSync } from 'node:fs'
import { LockstepError } from '../protocol/errors.ts'
import { LIMITS } from '../protocol/limits.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The environment with the contents of the named files in their settings' places. */
export function withSecretFiles(environment: Environment, secrets: readonly string[]): Environment {
  const filled: Record<string, string | undefined> = { ...environment }
  for (const name of secrets) {
    const file = environment[`${name}_FILE`]
    if (file === undefined || file === '') continue
    if (environment[name] !== undefined && environment[name] !== '') {
      throw new LockstepError(
        'bad_request',
        `setting ${name} must be given once: itself or as ${name}_FILE, not both`,
        {
          field: name,
        },
      )
    }
    filled[name] = contentOf(file, `${name}_FILE`)
  }
  return filled
}

function contentOf(file: string, field: string): string {
  const wrong = (right: string): LockstepError =>
    new LockstepError('bad_request', `setting ${field} must name a file ${right}; got '${file}'`, { field })
  let content: string
  try {
    if (statSync(file).size > LIMITS.secretFileBytes) throw wrong(`of at most ${LIMITS.secretFileBytes} bytes`)
    content = readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof LockstepError) throw error
    throw wrong(`that can be read (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown'})`)
  }
  // Editors end a file with a newline; a secret does not.
  content = content.replace(/\r?\n$/, '')
  if (content === '') throw wrong('that is not empty')
  return content
}
