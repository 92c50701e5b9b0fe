// Decodes a configure: options by known key only, each of its kind and in its bounds, null meaning "back to the default".
// A refused body changes nothing; unknown keys are ignored, as the wire says, and named in the answer.
import { isRecord, optional, readFields, refuse, root, text } from './check.ts'
import { LIMITS } from './limits.ts'
import { queueName } from './names.ts'
import { QUEUE_OPTIONS } from './queue-options.ts'
import type { QueueOption, QueueOptionName } from './queue-options.ts'
import { recordOf, sliced } from './request-body.ts'
import type { RequestBody } from './request-body.ts'

export type OptionValue = number | boolean | string | null

export interface ConfigureRequest {
  readonly queue: string
  readonly namespace: string | null
  readonly task: string | null
  readonly options: Readonly<Partial<Record<QueueOptionName, OptionValue>>>
  readonly mode: 'merge' | 'replace'
  /** Keys that stood where options are read and are none. */
  readonly ignored: readonly string[]
}

/** Of ignored keys, the first so many are named, and none that is longer than a name. */
const NAMED_AT_MOST = 50

export const CONFIGURE_BODY = {
  queue: queueName,
  mode: optional(text({ max: 64 }), 'merge'),
} as const

export function decodeConfigure(body: RequestBody): ConfigureRequest {
  const place = root()
  const request = recordOf(sliced(body, {}).envelope, place)
  const { queue, mode } = readFields(CONFIGURE_BODY, request, place)
  if (mode !== 'merge' && mode !== 'replace') refuse(place, 'mode', `"merge" or "replace", got "${mode}"`)
  const nested = Object.hasOwn(request, 'options') ? request['options'] : undefined
  if (nested !== undefined && nested !== null && !isRecord(nested)) refuse(place, 'options', 'an object')
  return {
    queue,
    namespace: labelOf(request, 'namespace') ?? (isRecord(nested) ? labelOf(nested, 'namespace') : null),
    task: labelOf(request, 'task') ?? (isRecord(nested) ? labelOf(nested, 'task') : null),
    options: checkOptions(isRecord(nested) ? nested : request),
    mode,
    ignored: isRecord(nested)
      ? noOptions(nested, LABELS)
      : noOptions(request, [...Object.keys(CONFIGURE_BODY), ...OWN]),
  }
}

const LABELS: readonly string[] = ['namespace', 'task']
const OWN: readonly string[] = [...LABELS, 'options']

function noOptions(source: Readonly<Record<string, unknown>>, known: readonly string[]): readonly string[] {
  const ignored = Object.keys(source).filter((name) => !isOption(name) && !known.includes(name))
  return ignored.slice(0, NAMED_AT_MOST).map((name) => name.slice(0, LIMITS.nameBytes))
}

/** Taken when it is text that is not empty; anything else leaves what is stored. Some clients send it among the options. */
function labelOf(request: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = Object.hasOwn(request, name) ? request[name] : undefined
  if (typeof value !== 'string' || value === '') return null
  return text({ max: LIMITS.namespaceBytes, longCode: 'name_too_long' }).read(value, root(), name)
}

const isOption = (name: string): name is QueueOptionName => Object.hasOwn(QUEUE_OPTIONS, name)

/** The options of a configure, from the wire or from the client in process. */
export function checkOptions(source: Readonly<Record<string, unknown>>): ConfigureRequest['options'] {
  const options: Partial<Record<QueueOptionName, OptionValue>> = {}
  for (const name of Object.keys(QUEUE_OPTIONS)) {
    if (!isOption(name) || !Object.hasOwn(source, name)) continue
    const value = source[name]
    if (value !== undefined) options[name] = value === null ? null : checkOption(name, QUEUE_OPTIONS[name], value)
  }
  return options
}

function checkOption(name: string, option: QueueOption, value: unknown): OptionValue {
  const place = root()
  if (option.kind === 'boolean') {
    if (typeof value !== 'boolean') refuse(place, name, 'a boolean')
    return value
  }
  if (option.kind === 'text') return text({ max: LIMITS.namespaceBytes }).read(value, place, name)
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) refuse(place, name, 'an integer')
  if (name === 'dedupWindowSeconds' && value < 0) return 0
  if (name === 'minPopWaitTime') return Math.min(Math.max(value, option.min ?? 0), option.max ?? value)
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = option
  if (value < min || value > max) refuse(place, name, `an integer from ${min} to ${max}`)
  return value
}
