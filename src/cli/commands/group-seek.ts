// `lockstep group seek`: moves a group to another place of a queue, to replay it or to leave it behind. Its live leases end in
// the same commit, so that no worker's late ack moves the cursor back.

import { seekGroup } from '../../operations/seek-group.ts'
import { shellWord } from '../as-run.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { demandQueue } from '../demand-queue.ts'
import { noSuchQueue } from '../no-such-queue.ts'
import { readInstant } from '../read-instant.ts'
import { UsageError } from '../usage-error.ts'

export const groupSeek: Command = {
  name: 'group seek',
  summary: 'Move a consumer group to another place of a queue.',
  detail: 'Live leases of the group end in the same commit. A group that is not known yet is registered there.',
  arguments: [
    { name: 'queue', meaning: 'The queue.' },
    { name: 'group', meaning: 'The consumer group.' },
  ],
  options: {
    to: { kind: 'text', value: 'PLACE', meaning: 'start (all that is kept), end (nothing of it), or an instant.' },
    partition: { kind: 'text', value: 'NAME', meaning: 'Only this partition.' },
    ...DATABASE_OPTIONS,
  },
  examples: [
    'lockstep group seek orders billing --to start',
    'lockstep group seek orders billing --to 2026-11-01T08:00:00Z',
  ],
  async run(call) {
    const [queue, group] = [call.argument('queue'), call.argument('group')]
    const [place, partition] = [call.text('to'), call.text('partition')]
    if (place === null)
      throw new UsageError(
        '--to is needed: where to.',
        `lockstep group seek ${shellWord(queue)} ${shellWord(group)} --to start`,
      )
    const to = place === 'start' || place === 'end' ? place : { timestamp: readInstant(place, '--to') }
    return await withDatabase(call, async (database) => {
      await demandQueue(database, queue)
      const moved = await seekGroup(database, { group, queue, to, partition })
      if (moved === null && partition === null) throw await noSuchQueue(database, queue)
      if (moved === null)
        throw new UsageError(
          `There is no partition ${partition ?? ''} in ${queue}.`,
          `lockstep queue show ${shellWord(queue)}`,
        )
      call.output.result(
        { queue, group, to: place, partitions: moved },
        () => `${group} is now at ${place} of ${queue}; ${moved} partitions moved.`,
      )
      return 0
    })
  },
}
