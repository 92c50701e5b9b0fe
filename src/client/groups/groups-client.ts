// `lockstep.groups`: consumer groups looked at, moved and forgotten. A seek and a deletion end the group's live leases in the
// same commit, so that no late ack can land on the new position.
import { boolean, optional, readFields, refuse, root } from '../../protocol/check.ts'
import type { GroupInfo, GroupLane, SeekTarget } from '../../protocol/group-info.ts'
import { groupName, partitionName, queueName } from '../../protocol/names.ts'
import { instantText } from '../../protocol/pop-request.ts'
import type { QueueDepth } from '../../protocol/queue-info.ts'
import { definitionOf } from '../queue-definition.ts'
import type { NamedQueue } from '../timers/timer-input.ts'

export interface GroupSeek {
  readonly group: string
  readonly queue: string
  /** Null: on all of them. */
  readonly partition: string | null
  readonly to: SeekTarget
}

export interface GroupDeletion {
  readonly group: string
  /** Null: on every queue. */
  readonly queue: string | null
  readonly metadata: boolean
}

/** What a transport does for it. */
export interface GroupCalls {
  list(queue: string | null): Promise<readonly GroupInfo[]>
  show(group: string): Promise<readonly GroupLane[]>
  depth(queue: string, group: string): Promise<QueueDepth | null>
  /** Answers how many partitions there are. */
  seek(seek: GroupSeek): Promise<number>
  delete(deletion: GroupDeletion): Promise<number>
  /** Answers on how many queues. */
  setSubscription(group: string, timestamp: string): Promise<number>
}

export interface GroupDeleteOptions {
  /** On every queue unless said. */
  readonly queue?: NamedQueue | undefined
  /** Forget its cursors only: it begins again where it was subscribed. Default false. */
  readonly keepSubscription?: boolean | undefined
}

export interface Groups {
  /** Of one queue or of all, with what each has before it. */
  list(options?: { readonly queue?: NamedQueue | undefined }): Promise<readonly GroupInfo[]>
  /** Its partitions with cursor, lag and lease, those with work first, at most 1,000 of each queue. */
  show(group: string): Promise<readonly GroupLane[]>
  /** What it has before it on a queue, by partition, those with most first; null without such a queue. */
  lag(group: string, queue: NamedQueue): Promise<QueueDepth | null>
  /** Moves it on all partitions of a queue, or on one: to 'start', 'end', or the first message created at or after a time. */
  seek(
    group: string,
    queue: NamedQueue,
    to: SeekTarget | Date,
    options?: { readonly partition?: string | undefined },
  ): Promise<{ readonly partitions: number }>
  /** Forgets it: its name starts fresh. Answers how many cursors it had. */
  delete(group: string, options?: GroupDeleteOptions): Promise<{ readonly partitions: number }>
  /** Changes where it begins on partitions that it has not seen; moves no cursor. */
  setSubscription(group: string, from: string | Date): Promise<{ readonly queues: number }>
}

const PARTITION = { partition: optional(partitionName, null) } as const
const DELETION = { keepSubscription: optional(boolean, false) } as const

export function seekTarget(to: SeekTarget | Date): SeekTarget {
  if (to === 'start' || to === 'end') return to
  const timestamp: unknown = to instanceof Date ? to.toISOString() : to?.timestamp
  if (typeof timestamp !== 'string') return refuse(root(), 'seek', "'start', 'end', a Date or { timestamp }")
  return { timestamp: instantText(timestamp, root(), 'timestamp') }
}

const groupOf = (group: string): string => groupName.read(group, root(), 'group')
const queueOf = (queue: NamedQueue): string => queueName.read(definitionOf(queue).name, root(), 'queue')
const maybeQueue = (queue: NamedQueue | undefined): string | null => (queue === undefined ? null : queueOf(queue))

export function groupsClient(calls: GroupCalls): Groups {
  return {
    list: async ({ queue } = {}) => calls.list(maybeQueue(queue)),
    show: async (group) => calls.show(groupOf(group)),
    lag: async (group, queue) => calls.depth(queueOf(queue), groupOf(group)),
    async seek(group, queue, to, options = {}) {
      const { partition } = readFields(PARTITION, options, root())
      const partitions = await calls.seek({
        group: groupOf(group),
        queue: queueOf(queue),
        partition,
        to: seekTarget(to),
      })
      return { partitions }
    },
    async delete(group, options = {}) {
      const { keepSubscription } = readFields(DELETION, options, root())
      const deletion = { group: groupOf(group), queue: maybeQueue(options.queue), metadata: !keepSubscription }
      return { partitions: await calls.delete(deletion) }
    },
    async setSubscription(group, from) {
      const instant: unknown = from instanceof Date ? from.toISOString() : from
      if (typeof instant !== 'string') return refuse(root(), 'from', 'a Date or an ISO-8601 time')
      return { queues: await calls.setSubscription(groupOf(group), instantText(instant, root(), 'from')) }
    },
  }
}
