// WIRE section 2: configure merges, refuses what is wrong without writing, echoes all; a deletion frees the name.
import type { Untyped } from '../../src/client/untyped.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QUEUE_OPTIONS } from '../../src/protocol/queue-options.ts'
import { serve } from './served.ts'

test('a configure names what it did not know, where it was given', async (t) => {
  const { post } = await serve(t)
  const nested = await post('/api/v1/configure', { queue: 'q', options: { leaseTime: 5, leasetime: 6, speed: 1 } })
  assert.deepEqual(
    [nested.status, nested.json.ignored, nested.json.options.leaseTime],
    [200, ['leasetime', 'speed'], 5],
  )
  const flat = await post('/api/v1/configure', {
    queue: 'q',
    namespace: 'n',
    retryLimit: 1,
    retrylimit: 2,
    mode: 'merge',
  })
  assert.deepEqual([flat.json.ignored, flat.json.options.retryLimit], [['retrylimit'], 1])
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`x${n}`.repeat(300), n]))
  const { json } = await post('/api/v1/configure', { queue: 'q', options: many })
  assert.deepEqual([json.ignored.length, json.ignored[0].length], [50, 512])
  assert.deepEqual((await post('/api/v1/configure', { queue: 'q' })).json.ignored, [])
})

test('configure makes a queue and echoes every option', async (t) => {
  const { post } = await serve(t)
  const { status, json, headers } = await post('/api/v1/configure', {
    queue: 'orders',
    namespace: 'shop',
    task: 'ship',
    options: { leaseTime: 42, retryLimit: 7, deadLetterQueue: false, ttl: 9, maxSize: 5 },
  })
  assert.equal(status, 200)
  assert.match(headers['content-type'] ?? '', /application\/json/)
  assert.equal(json.configured, true)
  assert.equal(json.queue, 'orders')
  assert.equal(json.namespace, 'shop')
  assert.equal(json.task, 'ship')
  assert.equal(json.partitionId, null)
  assert.equal(json.storage, 'segments')
  for (const [name, option] of Object.entries(QUEUE_OPTIONS)) {
    const given: Record<string, unknown> = { leaseTime: 42, retryLimit: 7, deadLetterQueue: false, ttl: 9, maxSize: 5 }
    assert.equal(json.options[name], given[name] ?? option.fallback, name)
  }
  assert.equal(json.options.maxQueueSize, 5)
})

test('configure merges: what is left out stays, null is the default again', async (t) => {
  const { post } = await serve(t)
  const first = await post('/api/v1/configure', { queue: 'q', options: { leaseTime: 10, retryLimit: 1 } })
  const merged = await post('/api/v1/configure', { queue: 'q', options: { retryLimit: null, priority: 3 } })
  assert.equal(merged.json.queueId, first.json.queueId)
  assert.equal(merged.json.options.leaseTime, 10)
  assert.equal(merged.json.options.retryLimit, 3)
  assert.equal(merged.json.options.priority, 3)
  const replaced = await post('/api/v1/configure', { queue: 'q', options: { priority: 5 }, mode: 'replace' })
  assert.equal(replaced.json.queueId, first.json.queueId)
  assert.equal(replaced.json.options.leaseTime, 300)
  assert.equal(replaced.json.options.priority, 5)
})

test('options may stand at the top only when there is no options object', async (t) => {
  const { post } = await serve(t)
  const top = await post('/api/v1/configure', { queue: 'a', leaseTime: 11 })
  assert.equal(top.json.options.leaseTime, 11)
  const nested = await post('/api/v1/configure', { queue: 'b', leaseTime: 11, options: {} })
  assert.equal(nested.json.options.leaseTime, 300)
})

test('a namespace and a task may stand among the options, where some clients put them; the top wins', async (t) => {
  const { post } = await serve(t)
  const inside = { queue: 'a', options: { namespace: 'shop', task: 'ship' } }
  const { json } = await post('/api/v1/configure', inside)
  assert.deepEqual([json.namespace, json.task], ['shop', 'ship'])
  const both = await post('/api/v1/configure', { ...inside, namespace: 'top' })
  assert.deepEqual([both.json.namespace, both.json.task], ['top', 'ship'])
  const empty = await post('/api/v1/configure', { queue: 'a', options: { namespace: '', task: null } })
  assert.deepEqual([empty.json.namespace, empty.json.task], ['top', 'ship'], 'what is no text leaves what is stored')
})

test('a refused configure changes nothing', async (t) => {
  const { post, sql } = await serve(t)
  const wrong: readonly [unknown, RegExp][] = [
    [{ queue: 'q', options: { leaseTime: '5' } }, /^leaseTime must be an integer/],
    [{ queue: 'q', options: { leaseTime: 1.5 } }, /^leaseTime must be an integer/],
    [{ queue: 'q', options: { leaseTime: 0 } }, /^leaseTime must be an integer from 1 to/],
    [{ queue: 'q', options: { leaseTime: -1 } }, /^leaseTime must be an integer from 1 to/],
    [{ queue: 'q', options: { leaseTime: 1e12 } }, /^leaseTime must be an integer from 1 to/],
    [{ queue: 'q', options: { deadLetterQueue: 'yes' } }, /^deadLetterQueue must be a boolean/],
    [{ queue: 'q', options: { retentionSinkHoldMaxSeconds: -1 } }, /^retentionSinkHoldMaxSeconds must be/],
    [{ queue: 'q', options: [] }, /^options must be an object/],
    [{ queue: 'q', mode: 'overwrite' }, /^mode must be "merge" or "replace", got "overwrite"/],
    [{ options: {} }, /^queue must be/],
    [{ queue: 5 }, /^queue must be/],
    ['{"queue":', /no JSON/],
    ['[]', /must be an object/],
  ]
  for (const [body, message] of wrong) {
    const { status, json } = await post('/api/v1/configure', body)
    assert.equal(status, 400, JSON.stringify(body))
    assert.match(json.error, message)
    assert.equal(json.code, 'bad_request')
  }
  assert.deepEqual(await sql('select name from lockstep.queue'), [])
})

test('an unknown option, an empty name and null labels are accepted', async (t) => {
  const { post } = await serve(t)
  const empty = await post('/api/v1/configure', {
    queue: '',
    options: { noSuchOption: 1 },
    namespace: null,
    task: null,
  })
  assert.equal(empty.status, 200)
  assert.equal(empty.json.queue, '')
  assert.equal('noSuchOption' in empty.json.options, false)
  assert.equal((await post('/api/v1/configure', { queue: 'q', mode: null })).status, 200)
})

test('negative dedupWindowSeconds is read as 0', async (t) => {
  const { post } = await serve(t)
  const { json } = await post('/api/v1/configure', { queue: 'q', options: { dedupWindowSeconds: -5 } })
  assert.equal(json.options.dedupWindowSeconds, 0)
})

test('a push and a pop make the queue they name, with labels from a dotted name', async (t) => {
  const { push, pop, get } = await serve(t)
  await push('a.b.c', [1])
  assert.equal((await pop('looked-at')).status, 204)
  const { json } = await get('/api/v1/resources/queues')
  const byName = new Map(json.queues.map((queue: { name: string }) => [queue.name, queue]))
  assert.deepEqual(new Set(byName.keys()), new Set(['a.b.c', 'looked-at']))
  const pushed: Untyped = byName.get('a.b.c')
  assert.equal(pushed.namespace, 'a')
  assert.equal(pushed.task, 'b')
  assert.equal(pushed.partitions, 1)
  assert.equal(pushed.messages.total, 1)
  assert.equal(pushed.options.leaseTime, 60)
  assert.equal(pushed.retainedBytes, null, 'what nobody counts is null, never a made-up number')
  assert.deepEqual([json.kvRows, json.kvBytes, json.timerRows, json.timerBytes], [null, null, null, null])
})

test('a deletion removes all and frees the name; deleting what is not there is 200 too', async (t) => {
  const { push, pop, send } = await serve(t)
  await push('q', [1, 2])
  const leased = await pop('q', 'batch=1&consumerGroup=g')
  assert.equal(leased.status, 200)
  const deleted = await send('DELETE', '/api/v1/resources/queues/q')
  assert.equal(deleted.status, 200)
  assert.deepEqual(deleted.json, { deleted: true, queue: 'q', existed: true })
  const again = await send('DELETE', '/api/v1/resources/queues/q')
  assert.equal(again.status, 200)
  assert.equal(again.json.deleted, false)
  assert.equal(again.json.existed, false)
  assert.equal(typeof again.json.message, 'string')
  assert.equal((await pop('q', 'consumerGroup=g')).status, 204)
  await push('q', [3])
  const fresh = await pop('q', 'consumerGroup=g')
  assert.deepEqual(
    fresh.json.messages.map((message: { data: unknown }) => message.data),
    [3],
  )
})

test('a name in the path is percent-decoded', async (t) => {
  const { push, send } = await serve(t)
  await push('a/b c%', [1])
  const { json } = await send('DELETE', `/api/v1/resources/queues/${encodeURIComponent('a/b c%')}`)
  assert.deepEqual(json, { deleted: true, queue: 'a/b c%', existed: true })
})
