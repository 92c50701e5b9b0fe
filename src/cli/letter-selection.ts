// The options by which a command selects dead letters, and what they say.
import type { DeadLetterSelection } from '../protocol/dead-letter.ts'
import type { Call } from './call.ts'
import type { Option } from './command.ts'
import { readInstant } from './read-instant.ts'

export const SELECTION_OPTIONS: Readonly<Record<string, Option>> = {
  group: { kind: 'text', value: 'NAME', meaning: 'Only of this group.' },
  partition: { kind: 'text', value: 'NAME', meaning: 'Only of this partition.' },
  error: { kind: 'text', value: 'TEXT', meaning: 'Only those whose reason holds this text.' },
  from: { kind: 'text', value: 'TIME', meaning: 'Only those that died at or after this instant.' },
  to: { kind: 'text', value: 'TIME', meaning: 'Only those that died before this instant.' },
}

export function letterSelection(call: Call): Omit<DeadLetterSelection, 'queue'> {
  const [from, to] = [call.text('from'), call.text('to')]
  return {
    group: call.text('group'),
    partition: call.text('partition'),
    error: call.text('error'),
    from: from === null ? null : readInstant(from, '--from'),
    to: to === null ? null : readInstant(to, '--to'),
  }
}
