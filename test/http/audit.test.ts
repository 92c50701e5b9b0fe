// The audit: each destructive call is noted in its own commit, with who made it, under which request, and what came of it; what
// changed nothing or was rolled back leaves no note.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listAudit } from '../../src/operations/list-audit.ts'
import { secretToken } from '../kit/tokens.ts'
import { serve } from './served.ts'

const SECRET = 'thirty-two bytes that nobody knows'

test('deletions, seeks, replays, purges and cancellations are noted with their caller; reads and refusals are not', async (t) => {
  const { send, sql, db } = await serve(t, { auth: { secret: SECRET } })
  const token = secretToken(SECRET, { sub: 'ada', role: 'admin' })
  const headers = { authorization: `Bearer ${token}` }
  const call = async (method: string, path: string, body?: unknown): ReturnType<typeof send> => {
    const reply = await send(method, path, body, headers)
    assert.ok(reply.status < 500, `${method} ${path}: ${reply.text}`)
    return reply
  }
  const items = ['a', 'b', 'c'].map((transactionId) => ({ queue: 'q', partition: 'p', transactionId, payload: 1 }))
  await call('POST', '/api/v1/push', { items })
  const { json } = await call('GET', '/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=all&batch=3')
  const acknowledgments = json.messages.map((message: { transactionId: string; partitionId: string }) => ({
    transactionId: message.transactionId,
    partitionId: message.partitionId,
    leaseId: json.leaseId,
    status: 'dlq',
  }))
  await call('POST', '/api/v1/ack/batch', { acknowledgments, consumerGroup: 'g' })
  const letters = (await call('GET', '/api/v1/dlq?queue=q')).json.messages
  const [run] = await sql(`select (lockstep.enqueue('w', '{}')).run_id`)
  const runId = String(run?.['run_id'])
  await call('PUT', '/api/v1/schedules/nightly', { target: 'w', cron: '0 3 * * *', input: {} })
  await call('POST', '/api/v1/ephemeral/configure', { queue: 'e', options: {} })
  await call('POST', '/streams/v1/queries', { name: 's', source_queue: 'q', config_hash: 'one' })
  assert.equal(await sql('select count(*)::int as n from lockstep.audit').then(([row]) => row?.['n']), 0)

  const done = [
    await call('POST', `/api/v1/dlq/${letters[0].id}/replay`, {}),
    await call('POST', '/api/v1/dlq/replay', { queue: 'q', error: 'nothing like this' }),
    await call('POST', '/api/v1/dlq/replay', { queue: 'q', dryRun: true }),
    await call('DELETE', '/api/v1/dlq?queue=q&dryRun=true'),
    await call('DELETE', '/api/v1/dlq?queue=q'),
    await call('POST', '/api/v1/consumer-groups/g/queues/q/seek', { toEnd: true }),
    await call('POST', '/api/v1/consumer-groups/g/queues/q/partitions/p/seek', { toEnd: true }),
    await call('POST', '/api/v1/consumer-groups/g/subscription', { subscriptionTimestamp: '2026-01-01T00:00:00Z' }),
    await call('DELETE', '/api/v1/consumer-groups/g/queues/q'),
    await call('POST', `/api/v1/runs/${runId}/cancel`, { reason: 'no longer wanted' }),
    await call('DELETE', '/api/v1/schedules/nightly'),
    await call('DELETE', '/api/v1/ephemeral/queue/e'),
    await call('POST', '/streams/v1/queries', { name: 's', source_queue: 'q', config_hash: 'two', reset: true }),
    await call('DELETE', '/api/v1/resources/queues/q'),
    await call('DELETE', '/api/v1/resources/queues/q'),
  ]
  const noted = await listAudit(db.database)
  assert.deepEqual(noted.map((row) => row.action).toReversed(), [
    'redrive_dead_letter',
    'purge_dead_letters',
    'seek_group',
    'seek_partition',
    'set_subscription',
    'delete_group',
    'cancel_run',
    'delete_schedule',
    'forget_ephemeral',
    'reset_stream',
    'delete_queue',
  ])
  assert.deepEqual([...new Set(noted.map((row) => row.actor))], ['ada'])
  const asked = new Set(done.map((reply) => reply.headers['x-request-id']))
  assert.ok(noted.every((row) => asked.has(row.requestId ?? '')))
  const purge = noted.find((row) => row.action === 'purge_dead_letters')
  assert.deepEqual([JSON.parse(purge?.target ?? '').queue, JSON.parse(purge?.outcome ?? '')], ['q', { deleted: 2 }])

  const shown = await call('GET', '/api/v1/audit?action=delete_queue&actor=ada')
  assert.deepEqual(
    shown.json.audit.map((row: { target: unknown; outcome: unknown }) => [row.target, row.outcome]),
    [[{ queue: 'q' }, { deleted: true }]],
  )
  const page = await call('GET', '/api/v1/audit?limit=3')
  const next = await call('GET', `/api/v1/audit?limit=100&before=${page.json.audit[2].id}`)
  assert.deepEqual([page.json.audit.length, next.json.audit.length], [3, noted.length - 3])
  assert.equal((await call('GET', '/api/v1/audit?before=x')).status, 400)
})

test('a call from psql is noted by its role, in its own transaction, and goes with a rollback', async (t) => {
  const { post, sql, db } = await serve(t)
  for (const queue of ['a', 'b']) await post('/api/v1/push', { items: [{ queue, payload: 1 }] })
  const client = await db.connect()
  await client.query('begin')
  await client.query(`select lockstep.delete_queue('a')`)
  await client.query('rollback')
  assert.deepEqual(await listAudit(db.database), [])
  await client.query(`select lockstep.delete_queue('b')`)
  const [row] = await listAudit(db.database)
  const [role] = await sql('select session_user as name')
  assert.deepEqual([row?.actor, row?.dbRole, row?.requestId], [null, role?.['name'], null])
})

test('notes end with their time, which a database may set', async (t) => {
  const { post, sql, db } = await serve(t, { upkeep: false })
  for (const queue of ['a', 'b']) await post('/api/v1/push', { items: [{ queue, payload: 1 }] })
  const client = await db.connect()
  await client.query(`select lockstep.delete_queue('a')`)
  await client.query(`set lockstep.audit_days = '1'`)
  await client.query(`select lockstep.delete_queue('b')`)
  assert.deepEqual(await sql('select (expires_at - at)::text as kept from lockstep.audit order by id'), [
    { kept: '90 days' },
    { kept: '1 day' },
  ])
  assert.deepEqual(await sql('select lockstep.expire_audit()'), [{ expire_audit: 0 }])
  await client.query(`update lockstep.audit set expires_at = at where target like '%"b"%'`)
  assert.deepEqual(await sql('select lockstep.expire_audit()'), [{ expire_audit: 1 }])
  assert.deepEqual((await listAudit(db.database)).length, 1)
})
