// A worker that learns: each registration starts one that knows all so far and lets the one before finish beside it, so that a
// handler which waits for the test never holds the test up.
import type { Defined } from '../workflow/define/definition.ts'
import type { Worker, WorkerOptions, WorkerStatus } from '../workflow/define/worker.ts'

export interface TestWorker {
  readonly register: (...defined: readonly Defined[]) => Promise<void>
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
  readonly status: () => WorkerStatus
}

const NEVER_STARTED: WorkerStatus = {
  state: 'stopped',
  running: 0,
  waiting: 0,
  healthy: false,
  lastError: null,
  loopLagMs: 0,
}

export function createTestWorker(
  client: { worker(options: WorkerOptions): Worker },
  options: Omit<WorkerOptions, 'actions' | 'workflows'>,
): TestWorker {
  const known = new Set<Defined>()
  const leaving = new Set<Promise<void>>()
  let current: Worker | null = null

  async function stop(): Promise<void> {
    await Promise.all([current?.stop(), ...leaving])
  }

  return {
    async register(...defined) {
      for (const one of defined) known.add(one)
      const former = current
      const next = client.worker({ ...options, actions: [...known] })
      await next.start()
      current = next
      if (former === null) return
      const left = former.stop().finally(() => leaving.delete(left))
      leaving.add(left)
    },
    async start() {
      if (current === null) throw new Error('register an action or a workflow first')
      await current.start()
    },
    stop,
    status: () => current?.status() ?? NEVER_STARTED,
  }
}
