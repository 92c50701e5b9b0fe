// `lockstep queue pop`: looks at the next messages of a group. Unless it is told to take them it hands them back at once,
// uncounted: a look must not cost a message one of its attempts.

import { mintId } from '../../protocol/mint-id.ts'
import { pop } from '../../operations/pop.ts'
import { release } from '../../operations/release.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { decodePop } from '../../protocol/pop-request.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { demandQueue } from '../demand-queue.ts'
import { showTable } from '../show-table.ts'
import { UsageError } from '../usage-error.ts'
import { rawJson } from '../write-json.ts'

export const queuePop: Command = {
  name: 'queue pop',
  summary: 'Print the next messages, and take them if told to.',
  detail:
    'Without --ack or --keep the messages are handed back as soon as they are printed, and nothing is counted against them. Ends with status 1 when there is none.',
  arguments: [{ name: 'queue', meaning: 'The queue.' }],
  options: {
    group: { kind: 'text', value: 'NAME', meaning: 'The consumer group. Default: none, the queue itself.' },
    partition: { kind: 'text', value: 'NAME', meaning: 'Only this partition.' },
    batch: { kind: 'integer', value: 'N', min: 1, max: LIMITS.popBatch, meaning: 'At most this many.', fallback: '10' },
    from: {
      kind: 'choice',
      choices: ['all', 'new'],
      meaning: 'Where a group that is not known yet begins.',
      fallback: 'all',
    },
    ack: { kind: 'flag', meaning: 'Take the messages: they are finished for this group.' },
    keep: { kind: 'flag', meaning: 'Keep the lease until it ends, and print it.' },
    ...DATABASE_OPTIONS,
  },
  examples: ['lockstep queue pop orders', 'lockstep queue pop orders --group billing --ack --json'],
  async run(call) {
    const queue = call.argument('queue')
    const [group, partition, ack, keep] = [
      call.text('group'),
      call.text('partition'),
      call.flag('ack'),
      call.flag('keep'),
    ]
    if (ack && keep) throw new UsageError('--ack finishes the messages and --keep leases them: give one of them.')
    const { wish } = decodePop(
      queue,
      partition,
      {
        batch: String(call.integer('batch') ?? 10),
        partitions: String(LIMITS.popPartitions),
        autoAck: String(ack),
        subscriptionMode: call.text('from') ?? 'all',
        ...(group === null ? {} : { consumerGroup: group }),
      },
      'all',
    )
    return await withDatabase(call, async (database) => {
      await demandQueue(database, queue)
      const leaseId = mintId()
      let outcome = await pop(database, { ...wish, leaseIds: [leaseId], floor: null, waitStaged: false })
      // The first looks of a new group only give it its lanes.
      while (outcome.again === 'backfill' && outcome.answers[0]?.length === 0) {
        outcome = await pop(database, { ...wish, leaseIds: [leaseId], floor: outcome.floor, waitStaged: false })
      }
      const messages = outcome.answers[0] ?? []
      if (messages.length > 0 && !ack && !keep) await release(database, leaseId)
      const shown = messages.map((message) => ({
        ...message,
        payload: rawJson(message.payload),
        leaseId: keep ? message.leaseId : null,
      }))
      call.output.result({ queue, group: wish.group, messages: shown, leased: keep && messages.length > 0 }, () => {
        const table = showTable(
          ['partition', 'offset', 'transaction id', 'attempt', 'payload'],
          messages.map((message) => [
            message.partition,
            message.offset,
            message.transactionId,
            message.deliveryAttempt,
            message.payload,
          ]),
          emptyText(queue, outcome.dueInMs),
        )
        return keep && messages.length > 0 ? `${table}\nlease: ${leaseId}` : table
      })
      return messages.length > 0 ? 0 : 1
    })
  },
}

function emptyText(queue: string, dueInMs: number | null): string {
  const none = `No message of ${queue} is to be had.`
  return dueInMs === null
    ? none
    : `${none} One is leased or delayed; the next is due in ${Math.ceil(dueInMs / 1000)} s.`
}
