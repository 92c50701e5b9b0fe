// Clients that do not read what they asked for: the broker's memory stays bounded, nothing is leased past the bound, others
// are served, and what was never read comes back.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { LIMITS } from '../../src/protocol/limits.ts'
import { waitFor } from '../../src/testing/sessions.ts'
import { serve } from './served.ts'

const MIB = 1024 * 1024
const READERS = 60

test('answers that nobody reads are bounded: past the bound pops lease nothing, and a farewell gives all back', async (t) => {
  const { url, push, pop, post, get, sql } = await serve(t)
  const { hostname, port } = new URL(url)
  const large = 'y'.repeat(3_000_000)
  const ids = await push('large', [large, large, large, large])
  const before = process.memoryUsage().rss
  const waiting = async (): Promise<number> =>
    Number(/\nlockstep_answer_bytes (\d+)/.exec((await get('/metrics/prometheus')).text)?.[1])
  const leased = async (): Promise<number> =>
    Number((await sql('select count(*) as n from lockstep.lane where lease_id is not null'))[0]?.['n'])

  const sockets: Socket[] = []
  const more = (): void => {
    const socket = connect({ host: hostname, port: Number(port) })
    socket.on('error', () => {})
    socket.pause()
    const query = `consumerGroup=g${sockets.length}&subscriptionMode=all&batch=10`
    socket.write(`GET /api/v1/pop/queue/large?${query} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    sockets.push(socket)
  }
  while (sockets.length < READERS) more()
  await waitFor('the bound', async () => (await waiting()) >= LIMITS.inFlightAnswerBytes)
  await waitFor('no look', async () => /\nlockstep_waiting_pops 0\n/.test((await get('/metrics/prometheus')).text))

  const held = await leased()
  assert.ok(held < READERS, `${held} of ${READERS} got an answer`)
  for (const path of ['/api/v1/pop/queue/large?consumerGroup=late&subscriptionMode=all', '/api/v1/pop?task=big']) {
    await post('/api/v1/configure', { queue: 'large', task: 'big' })
    const refused = await get(path)
    assert.deepEqual(
      [refused.status, refused.json.code, refused.headers['retry-after']],
      [429, 'overloaded', '1'],
      path,
    )
  }
  assert.equal(await leased(), held)
  assert.equal((await post('/api/v1/push', { items: [{ queue: 'small', payload: 1 }] })).status, 201)
  const grown = process.memoryUsage().rss - before
  assert.ok(grown < 1_000 * MIB, `grew by ${Math.round(grown / MIB)} MiB`)

  for (const socket of sockets) socket.destroy()
  await waitFor('the room', async () => (await waiting()) < MIB)
  await waitFor('all leases to be handed back', async () => (await leased()) === 0)
  const got: string[] = []
  for (let i = 0; i < ids.length && got.length < ids.length; i++) {
    const { status, json } = await pop('large', 'consumerGroup=g0&batch=10&autoAck=true')
    assert.equal(status, 200)
    for (const message of json.messages) got.push(message.transactionId)
  }
  assert.deepEqual(got, ids)
})

test('a poll that is parked stays through the want of room and is served when there is some', async (t) => {
  const { url, push, get } = await serve(t)
  const { hostname, port } = new URL(url)
  const parked = get('/api/v1/pop/queue/awaited?wait=true&timeout=30000&consumerGroup=g&subscriptionMode=all')
  await waitFor('it to park', async () => /\nlockstep_parked_polls 1\n/.test((await get('/metrics/prometheus')).text))
  const large = 'y'.repeat(8 * MIB)
  await push('large', [large])
  const sockets = Array.from({ length: 40 }, (_, i) => {
    const socket = connect({ host: hostname, port: Number(port) })
    socket.on('error', () => {})
    socket.pause()
    socket.write(
      `GET /api/v1/pop/queue/large?consumerGroup=g${i}&subscriptionMode=all HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    )
    return socket
  })
  await waitFor('the bound', async () => {
    const bytes = Number(/\nlockstep_answer_bytes (\d+)/.exec((await get('/metrics/prometheus')).text)?.[1])
    return bytes >= LIMITS.inFlightAnswerBytes
  })
  await push('awaited', ['here'])
  for (const socket of sockets) socket.destroy()
  const { status, json } = await parked
  assert.deepEqual([status, json.messages[0].data], [200, 'here'])
})
