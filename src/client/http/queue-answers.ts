// The answers of configure and of a queue's deletion.
import { boolean, optional, type Fields } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { isEffective, type EffectiveSettings } from '../queue-settings.ts'
import type { Configured } from '../transport.ts'
import { fieldsIn, plainText, readAnswer, recordIn, type AnswerRecord } from './answer-reader.ts'

const CONFIGURED = {
  queue: plainText,
  namespace: optional(plainText, ''),
  task: optional(plainText, ''),
} as const satisfies Fields
const DELETED = { existed: boolean } as const

function settingsIn(envelope: AnswerRecord): EffectiveSettings {
  const options = recordIn(envelope['options'])
  if (isEffective(options)) return options
  throw new LockstepError('internal', "the broker's answer lacks options of the queue")
}

export function configureAnswer(body: string): Configured {
  const envelope = recordIn(readAnswer(body, {}).envelope)
  return { ...fieldsIn(CONFIGURED, envelope), options: settingsIn(envelope) }
}

export function deleteAnswer(body: string): { readonly existed: boolean } {
  return fieldsIn(DELETED, readAnswer(body, {}).envelope)
}
