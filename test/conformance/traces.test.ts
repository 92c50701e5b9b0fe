// Traces on both ways: noted from a handler or by hand, found again by message and by name; a trace that cannot be noted costs
// nobody a message.
import assert from 'node:assert/strict'
import { onEveryWay } from './every-way.ts'

onEveryWay('events noted from a handler and by hand are found by message and by name', async ({ lockstep, named }) => {
  const [queue, flow] = [named('q'), named('flow')]
  await lockstep.queue(queue).push({ data: { n: 1 }, transactionId: 'm' })
  const group = lockstep.queue(queue).group('g').subscriptionMode('all').limit(1)
  let address = { partitionId: '', transactionId: '' }
  await group.each().consume(async (message) => {
    address = { partitionId: message.partitionId, transactionId: message.transactionId }
    await message.trace({ data: { step: 'seen' }, traceName: [flow, `${flow}/b`], eventType: 'progress' })
  })
  const { id } = await lockstep.traces.add(address, { data: 'by hand', traceName: flow, workerId: 'w' })
  const noted = await lockstep.traces.ofMessage(address)
  assert.deepEqual(
    noted.map((trace) => [trace.data, trace.text, trace.eventType, trace.group, trace.workerId, trace.names]),
    [
      ['by hand', '"by hand"', 'info', null, 'w', [flow]],
      [{ step: 'seen' }, '{"step":"seen"}', 'progress', 'g', null, [flow, `${flow}/b`]],
    ],
  )
  assert.equal(noted[0]?.id, id)
  assert.equal((await lockstep.traces.ofMessage(address, { limit: 1 })).length, 1)

  const named1 = await lockstep.traces.ofName(flow, { limit: 1, offset: 1 })
  assert.equal(named1.total, 2)
  assert.deepEqual(
    named1.traces.map((trace) => [trace.queue, trace.partition, trace.transactionId, trace.payload, trace.data]),
    [[queue, 'Default', 'm', { n: 1 }, { step: 'seen' }]],
  )
  assert.deepEqual(await lockstep.traces.ofName(named('none')), { traces: [], total: 0 })
  const { names, total } = await lockstep.traces.names()
  assert.ok(total >= 2)
  const mine = names.find((one) => one.name === flow)
  assert.deepEqual([mine?.traces, mine?.messages], [2, 1])
})

onEveryWay('a wrong trace is refused by its field; one that cannot be sent is reported and fails nobody', async (c) => {
  const queue = c.named('q')
  await c.lockstep.queue(queue).push([{ data: 1 }])
  const warnings: string[] = []
  const client = c.another({ warn: (_, message) => warnings.push(message) })
  const [message] = await client.queue(queue).group('g').subscriptionMode('all').pop()
  assert.ok(message !== undefined)
  const bad = (field: string) => ({ code: 'bad_request', details: { field } })
  await assert.rejects(message.trace({ data: 1, traceName: [''] }), bad('traceName'))
  await assert.rejects(message.trace({ data: 1, eventType: '' }), bad('eventType'))
  await assert.rejects(message.trace({ data: undefined }), { code: 'unserializable' })
  await assert.rejects(message.trace({ data: 'x'.repeat(300_000) }), { code: 'payload_too_large' })
  await assert.rejects(client.traces.add({ partitionId: '', transactionId: 'm' }, { data: 1 }), bad('partitionId'))
  assert.deepEqual(warnings, [])
  await client.close()
  await message.trace({ data: 1 })
  assert.deepEqual(warnings, ['a trace could not be noted'])
})
