// Consumer groups on both ways: what they have before them, moved to any place and forgotten; what is not so is a value, what
// cannot be is refused by the name of its field.
import assert from 'node:assert/strict'
import type { Lockstep } from 'lockstep'
import { onEveryWay } from './every-way.ts'

async function filled(lockstep: Lockstep, queue: string): Promise<void> {
  for (const data of [1, 2, 3]) await lockstep.queue(queue).partition('a').push({ data })
  await lockstep
    .queue(queue)
    .partition('b')
    .push([{ data: 4 }])
}

async function rest(lockstep: Lockstep, queue: string, group: string): Promise<readonly number[]> {
  const got = await lockstep.queue(queue).group(group).partitions(10).pop()
  await lockstep.ack(got)
  return got.map((message) => Number(message.data)).toSorted((a, b) => a - b)
}

onEveryWay('a group shows its lag, in all and by partition, and what it holds', async ({ lockstep, named }) => {
  const [queue, group] = [named('q'), named('g')]
  await filled(lockstep, queue)
  const claim = lockstep.queue(queue).group(group).subscriptionMode('all').partition('a').batch(2)
  const [first] = await claim.pop()
  assert.ok(first !== undefined)
  await lockstep.ack(first)

  const [listed, ...others] = await lockstep.groups.list({ queue })
  assert.ok(listed !== undefined && others.length === 0)
  assert.deepEqual([listed.group, listed.queue, listed.subscriptionMode, listed.startsAt], [group, queue, 'all', null])
  assert.deepEqual([listed.totalLag, listed.partitionsWithLag, listed.leased], [3, 2, 1])
  assert.ok(listed.maxTimeLagSeconds >= 0 && listed.createdAt.endsWith('Z'))
  assert.ok((await lockstep.groups.list()).some((one) => one.group === group && one.queue === queue))

  const lanes = new Map((await lockstep.groups.show(group)).map((lane) => [lane.partition, lane]))
  const [a, b] = [lanes.get('a'), lanes.get('b')]
  assert.deepEqual([a?.queue, a?.committed, a?.offsetLag, a?.leaseActive], [queue, 1, 2, true])
  assert.equal(a?.leaseId, first.leaseId)
  assert.deepEqual([b?.offsetLag, b?.leaseActive, b?.leaseId, b?.leaseExpiresAt], [1, false, null, null])
  assert.deepEqual(await lockstep.groups.show(named('nobody')), [])

  assert.deepEqual(await lockstep.groups.lag(group, queue), {
    queue,
    group,
    pending: 3,
    partitionsPending: 2,
    conflation: false,
    partitions: [
      { partition: 'a', pending: 2 },
      { partition: 'b', pending: 1 },
    ],
  })
  assert.equal(await lockstep.groups.lag(group, named('nowhere')), null)
})

onEveryWay('a group is moved to an end, to a time or to a place of one partition', async ({ lockstep, named }) => {
  const [queue, group] = [named('q'), named('g')]
  await filled(lockstep, queue)
  const { groups } = lockstep
  assert.deepEqual(await groups.seek(group, queue, 'start'), { partitions: 2 })
  const held = await lockstep.queue(queue).group(group).partition('a').pop()
  assert.equal(held.length, 3)
  assert.deepEqual(await groups.seek(group, queue, 'end'), { partitions: 2 })
  const [late] = await lockstep.ack(held)
  assert.ok(late !== undefined && !late.success && late.reason === 'lease_lost', 'a seek ends the leases')
  assert.deepEqual(await rest(lockstep, queue, group), [])

  assert.deepEqual(await groups.seek(group, queue, 'start', { partition: 'b' }), { partitions: 1 })
  assert.deepEqual(await rest(lockstep, queue, group), [4])

  const third = held[2]?.createdAt ?? ''
  await groups.seek(group, queue, { timestamp: third }, { partition: 'a' })
  assert.deepEqual(await rest(lockstep, queue, group), [3])
  await lockstep.queue(queue).group(group).partition('a').seek('start')
  assert.deepEqual(await rest(lockstep, queue, group), [1, 2, 3], 'a builder with a partition moves that one')
  await groups.seek(group, queue, new Date(Date.parse(held[0]?.createdAt ?? '') - 60_000))
  assert.deepEqual((await groups.lag(group, queue))?.pending, 4)

  await assert.rejects(groups.seek(group, named('nowhere'), 'end'), { code: 'not_found' })
  await assert.rejects(groups.seek(group, queue, 'end', { partition: 'c' }), { code: 'not_found' })
  await assert.rejects(groups.seek(group, queue, { timestamp: 'noon' }), { code: 'bad_request' })
  await assert.rejects(groups.seek('', queue, 'end'), { code: 'bad_request' })
})

onEveryWay(
  'a group is forgotten on one queue or on all, or begins again where it was subscribed',
  async ({ lockstep, named }) => {
    const [one, two, group] = [named('one'), named('two'), named('g')]
    const { groups } = lockstep
    for (const queue of [one, two]) {
      await filled(lockstep, queue)
      await groups.seek(group, queue, 'end')
      assert.deepEqual(await rest(lockstep, queue, group), [])
    }
    assert.deepEqual(await groups.delete(group, { queue: one, keepSubscription: true }), { partitions: 2 })
    assert.equal((await groups.list({ queue: one })).length, 1)
    assert.deepEqual(await groups.delete(group), { partitions: 2 })
    assert.deepEqual([await groups.list({ queue: one }), await groups.list({ queue: two })], [[], []])
    assert.deepEqual(await groups.delete(group), { partitions: 0 })

    await lockstep.queue(one).group(group).subscriptionMode('all').partition('a').batch(1).pop()
    assert.deepEqual(await groups.setSubscription(group, new Date(Date.now() + 86_400_000)), { queues: 1 })
    assert.ok((await groups.list({ queue: one }))[0]?.startsAt !== null)
    assert.deepEqual(await groups.setSubscription(named('nobody'), '2026-01-01'), { queues: 0 })
    await assert.rejects(groups.setSubscription(group, 'tomorrow'), { code: 'bad_request' })
  },
)
