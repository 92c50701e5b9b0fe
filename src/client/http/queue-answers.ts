// The answers of configure and of a queue's deletion.
import { boolean, optional, type Fields } from '../../protocol/check.ts'
import { effectiveSettings } from '../queue-settings.ts'
import type { Configured } from '../transport.ts'
import { fieldsIn, plainText, readAnswer, recordIn } from './answer-reader.ts'

const CONFIGURED = {
  queue: plainText,
  namespace: optional(plainText, ''),
  task: optional(plainText, ''),
} as const satisfies Fields
const DELETED = { existed: boolean } as const

export function configureAnswer(body: string): Configured {
  const envelope = recordIn(readAnswer(body, {}).envelope)
  return { ...fieldsIn(CONFIGURED, envelope), options: effectiveSettings(recordIn(envelope['options'])) }
}

export function deleteAnswer(body: string): { readonly existed: boolean } {
  return fieldsIn(DELETED, readAnswer(body, {}).envelope)
}
