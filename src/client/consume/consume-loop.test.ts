// The loop against a transport that answers by script: it never spins, whatever comes back at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LockstepError } from '../../protocol/errors.ts'
import { watchAttempts } from '../attempts.ts'
import { planFor } from '../plan.ts'
import { queue } from '../queue-definition.ts'
import type { Transport } from '../transport.ts'
import { startConsumer, type Consumer } from './start-consumer.ts'

const refuse = async (): Promise<never> => {
  throw new LockstepError('internal', 'not in this test')
}

function consumer(pop: Transport['pop'], warnings: string[] = []): Consumer {
  const transport: Transport = {
    pop,
    push: refuse,
    ack: refuse,
    renew: refuse,
    kv: refuse,
    locks: refuse,
    timers: refuse,
    timer: refuse,
    timerPage: refuse,
    transaction: refuse,
    step: refuse,
    configure: refuse,
    deleteQueue: refuse,
    groups: { list: refuse, show: refuse, depth: refuse, seek: refuse, delete: refuse, setSubscription: refuse },
    queues: { list: refuse, get: refuse },
    messages: { list: refuse, get: refuse, retry: refuse, delete: refuse },
    traces: { add: refuse, ofMessage: refuse, ofName: refuse, names: refuse },
    deadLetters: { list: refuse, get: refuse, replay: refuse, replayAll: refuse, purge: refuse },
    runs: {
      submit: refuse,
      show: refuse,
      nodes: refuse,
      ended: refuse,
      cancel: refuse,
      retry: refuse,
      signal: refuse,
      wake: refuse,
    },
    schedules: { put: refuse, list: refuse, preview: refuse, pause: refuse, trigger: refuse, delete: refuse },
    work: refuse,
    streams: refuse,
    ask: refuse,
    migrate: refuse,
    close: async () => {},
  }
  return startConsumer({
    transport,
    attempts: watchAttempts(),
    log: { warn: (_, message) => warnings.push(message) },
    plan: { ...planFor(queue('q')), concurrency: 2 },
    options: {},
    batch: 1,
    inProcess: false,
    warnConflict: () => {},
    work: () => async () => {},
  })
}

async function after(milliseconds: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
}

test('a server that answers waiting polls at once with nothing is asked about ten times a second by each worker', async () => {
  let pops = 0
  const running = consumer(async () => {
    pops += 1
    return []
  })
  await after(450)
  running.stop()
  assert.deepEqual(await running.done, { consumed: 0, reason: 'stopped' })
  assert.ok(pops >= 2 && pops <= 12, `${pops} pops`)
})

test('a poll that fails is tried again with a growing pause, and said', async () => {
  let pops = 0
  const warnings: string[] = []
  const running = consumer(async () => {
    pops += 1
    throw new LockstepError('unavailable', 'no way')
  }, warnings)
  await after(450)
  running.stop()
  assert.deepEqual(await running.done, { consumed: 0, reason: 'stopped' })
  assert.ok(pops >= 2 && pops <= 8, `${pops} pops`)
  assert.equal(warnings.length, pops)
})

test('what can never succeed ends all workers with that error', async () => {
  const running = consumer(async () => {
    throw new LockstepError('unauthorized', 'no valid token')
  })
  await assert.rejects(running.done, { code: 'unauthorized' })
})

test('a stop interrupts a poll in flight', async () => {
  const running = consumer(
    async (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve([]))
      }),
  )
  running.stop()
  assert.deepEqual(await running.done, { consumed: 0, reason: 'stopped' })
})
