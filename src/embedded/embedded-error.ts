// Makes the one fault of this folder: it always has a sentence that says what was seen and, where there is one, what to do.
// An error of the system keeps its text; nothing is ever reported as undefined.

import { LockstepError } from '../protocol/errors.ts'

/** A fault of the embedded PostgreSQL. `hint` is what the reader can do next. */
export function embeddedError(seen: string, hint = '', cause?: unknown): LockstepError {
  return new LockstepError('embedded_failed', hint === '' ? seen : `${seen}\n${hint}`, {}, cause)
}

/** The code of a system error (EACCES, ENOSPC …), or an empty text. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on its disk',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EEXIST: 'a file of that name is in the way',
  ENOENT: 'it does not exist',
  EMFILE: 'too many files are open',
}

/** One readable clause for any thrown value. */
export function reasonOf(error: unknown): string {
  const code = systemCode(error)
  const known = REASONS[code]
  if (known !== undefined) return `${known} (${code})`
  if (error instanceof Error && error.message !== '') return error.message
  return typeof error === 'string' && error !== '' ? error : 'no reason was given'
}
