// Says once a minute what this worker has, so that doctor can tell what waits for a version or an action that nobody has. A
// fault is told and followed by the next time; nothing depends on it.
import type { Executor } from '../../db/executor.ts'
import { seeWorkflows } from '../../operations/see-workflows.ts'
import type { Registry } from './registry.ts'

const EVERY_MS = 60_000

export function keepSeen(
  db: Executor,
  registry: Registry,
  onFault: (error: unknown) => void,
): { stop(): Promise<void> } {
  let saying: Promise<void> | null = null
  const timer = setInterval(() => {
    saying ??= seeWorkflows(db, registry.served)
      .catch(onFault)
      .finally(() => {
        saying = null
      })
  }, EVERY_MS)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await saying
    },
  }
}
