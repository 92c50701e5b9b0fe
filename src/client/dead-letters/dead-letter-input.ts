// What a caller says of dead letters, checked as the broker checks it: which ones, a page of them, where one goes to.
import { boolean, integer, optional, readFields, refuse, root, text } from '../../protocol/check.ts'
import type { DeadLetterSelection } from '../../protocol/dead-letter.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { groupName, partitionName, queueName } from '../../protocol/names.ts'
import { instantText } from '../../protocol/pop-request.ts'
import { isUuid } from '../../protocol/uuid.ts'

/** Which dead letters; what is left out matches all. */
export interface DeadLetterFilter {
  readonly group?: string | undefined
  readonly partition?: string | undefined
  /** A text that the reason holds. */
  readonly error?: string | undefined
  /** Died at or after this instant. */
  readonly from?: string | Date | undefined
  /** Died before this instant. */
  readonly to?: string | Date | undefined
}

export interface DeadLetterListOptions extends DeadLetterFilter {
  readonly queue?: string | undefined
  /** At most 1,000; 100 unless said. */
  readonly limit?: number | undefined
  /** Leave out the newest so many. */
  readonly offset?: number | undefined
}

export interface DeadLetterBulkOptions extends DeadLetterFilter {
  /** Count what would be done, and do nothing. */
  readonly dryRun?: boolean | undefined
}

export interface ReplayTarget {
  /** Where it came from unless said. */
  readonly queue?: string | undefined
  readonly partition?: string | undefined
}

/** As it travels. */
export interface DeadLetterPageCall extends Omit<DeadLetterSelection, 'queue'> {
  readonly queue: string | null
  readonly limit: number
  readonly offset: number
}

const FILTER = {
  group: optional(groupName, null),
  partition: optional(partitionName, null),
  error: optional(text({ min: 1, max: LIMITS.errorTextBytes }), null),
} as const
const PAGE = {
  queue: optional(queueName, null),
  limit: optional(integer(1, LIMITS.listLimit), LIMITS.listLimitDefault),
  offset: optional(integer(0, Number.MAX_SAFE_INTEGER), 0),
} as const
const TARGET = { queue: optional(queueName, null), partition: optional(partitionName, null) } as const
const BULK = { dryRun: optional(boolean, false) } as const

export function instantOf(value: string | Date | undefined, name: string): string | null {
  if (value === undefined) return null
  return instantText(value instanceof Date ? value.toISOString() : value, root(), name)
}

function filterOf(options: DeadLetterFilter): Omit<DeadLetterSelection, 'queue'> {
  return {
    ...readFields(FILTER, options, root()),
    from: instantOf(options.from, 'from'),
    to: instantOf(options.to, 'to'),
  }
}

export function pageCall(options: DeadLetterListOptions): DeadLetterPageCall {
  return { ...filterOf(options), ...readFields(PAGE, options, root()) }
}

export function bulkCall(
  queue: string,
  options: DeadLetterBulkOptions,
): { readonly selection: DeadLetterSelection; readonly dryRun: boolean } {
  return {
    selection: { ...filterOf(options), queue: queueName.read(queue, root(), 'queue') },
    ...readFields(BULK, options, root()),
  }
}

export function targetCall(target: ReplayTarget): { readonly queue: string | null; readonly partition: string | null } {
  return readFields(TARGET, target, root())
}

export function letterId(id: string): string {
  return typeof id === 'string' && isUuid(id) ? id : refuse(root(), 'id', 'the id of a dead letter')
}
