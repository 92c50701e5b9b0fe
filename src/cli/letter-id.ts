// The id of a dead letter from a command line, checked before anything is asked.
import { isUuid } from '../protocol/uuid.ts'
import { UsageError } from './usage-error.ts'

export function letterId(text: string): string {
  if (isUuid(text)) return text
  throw new UsageError(`'${text}' is no id of a dead letter.`, 'lockstep dlq list --json')
}
