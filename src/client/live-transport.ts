// A transport that is opened at its first use and refuses everything once closed. A client that never spoke opened nothing;
// a failed opening is tried again by the next verb.
import { LockstepError } from '../protocol/errors.ts'
import type { Transport } from './transport.ts'

export function liveTransport(open: () => Promise<Transport>): Transport {
  let opened: Promise<Transport> | null = null
  let closed = false
  async function ready(): Promise<Transport> {
    if (closed) throw new LockstepError('closed', 'the client was closed')
    const opening = (opened ??= open())
    try {
      return await opening
    } catch (error) {
      if (opened === opening) opened = null
      throw error
    }
  }
  return {
    push: async (items) => (await ready()).push(items),
    pop: async (call, signal) => (await ready()).pop(call, signal),
    ack: async (items) => (await ready()).ack(items),
    renew: async (leaseId, seconds) => (await ready()).renew(leaseId, seconds),
    kv: async (operations) => (await ready()).kv(operations),
    locks: async (operations) => (await ready()).locks(operations),
    timers: async (operations) => (await ready()).timers(operations),
    timer: async (queue, key) => (await ready()).timer(queue, key),
    timerPage: async (queue, after, limit) => (await ready()).timerPage(queue, after, limit),
    transaction: async (step) => (await ready()).transaction(step),
    step: async (ack, body) => (await ready()).step(ack, body),
    configure: async (call) => (await ready()).configure(call),
    deleteQueue: async (queue) => (await ready()).deleteQueue(queue),
    seekGroup: async (group, queue, to) => (await ready()).seekGroup(group, queue, to),
    deleteGroup: async (group, queue) => (await ready()).deleteGroup(group, queue),
    deadLetters: {
      list: async (page) => (await ready()).deadLetters.list(page),
      get: async (id) => (await ready()).deadLetters.get(id),
      replay: async (id, target) => (await ready()).deadLetters.replay(id, target),
      replayAll: async (selection, dryRun) => (await ready()).deadLetters.replayAll(selection, dryRun),
      purge: async (selection, dryRun) => (await ready()).deadLetters.purge(selection, dryRun),
    },
    runs: {
      submit: async (runs) => (await ready()).runs.submit(runs),
      show: async (runId, xid) => (await ready()).runs.show(runId, xid),
      nodes: async (runId) => (await ready()).runs.nodes(runId),
      ended: async (runId, timeoutMs, signal) => (await ready()).runs.ended(runId, timeoutMs, signal),
      cancel: async (runId, reason) => (await ready()).runs.cancel(runId, reason),
      retry: async (runId) => (await ready()).runs.retry(runId),
      signal: async (runId, name, payload) => (await ready()).runs.signal(runId, name, payload),
      wake: async () => (await ready()).runs.wake(),
    },
    schedules: {
      put: async (definition) => (await ready()).schedules.put(definition),
      list: async (name) => (await ready()).schedules.list(name),
      preview: async (rhythm, count) => (await ready()).schedules.preview(rhythm, count),
      pause: async (name, paused) => (await ready()).schedules.pause(name, paused),
      trigger: async (name) => (await ready()).schedules.trigger(name),
      delete: async (name) => (await ready()).schedules.delete(name),
    },
    work: async (options) => (await ready()).work(options),
    ask: async (call) => (await ready()).ask(call),
    migrate: async () => (await ready()).migrate(),
    async close() {
      closed = true
      const transport = await opened?.catch(() => null)
      await transport?.close()
    },
  }
}
