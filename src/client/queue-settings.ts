// The options of a queue as a caller writes and reads them, typed from the one table. Unknown names are refused here, where
// a misspelt one would otherwise be ignored by the wire.
import { LockstepError } from '../protocol/errors.ts'
import { QUEUE_OPTIONS, type QueueOptionName } from '../protocol/queue-options.ts'

interface Kinds {
  readonly integer: number
  readonly boolean: boolean
  readonly text: string
}

/** null puts an option back to its default; what is left out stays as it is. */
export type QueueSettings = {
  readonly [N in QueueOptionName]?: Kinds[(typeof QUEUE_OPTIONS)[N]['kind']] | null | undefined
}

/** Every option with its effective value. */
export type EffectiveSettings = { readonly [N in QueueOptionName]: Kinds[(typeof QUEUE_OPTIONS)[N]['kind']] }

const NAMES: ReadonlySet<string> = new Set(Object.keys(QUEUE_OPTIONS))

function isOption(name: string): name is QueueOptionName {
  return NAMES.has(name)
}

export function checkSettings(settings: QueueSettings): QueueSettings {
  for (const name of Object.keys(settings)) {
    if (!isOption(name)) {
      throw new LockstepError('bad_request', `a queue has no option '${name}'; it has ${[...NAMES].join(', ')}`)
    }
  }
  return settings
}

function isEffective(options: Readonly<Partial<Record<string, unknown>>>): options is EffectiveSettings {
  return Object.entries(QUEUE_OPTIONS).every(([name, option]) => typeof options[name] === typeof option.fallback)
}

/** The options of an answer, every one there and of its own kind. */
export function effectiveSettings(options: Readonly<Partial<Record<string, unknown>>>): EffectiveSettings {
  if (isEffective(options)) return options
  throw new LockstepError('internal', 'the answer lacks options of the queue')
}
