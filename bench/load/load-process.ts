// The load generator's process: takes one job at a time from its parent, runs it, answers the figures, ends with it.
import { rawPopAck, rawPush, rawPushUnique, rawStep } from '../baseline/raw.ts'
import { userTxLock, userTxNone } from '../baseline/user-tx.ts'
import { echo } from './echo.ts'
import { idle, wake } from './idle-consumers.ts'
import { stepInProcess, userTxPush } from './in-process.ts'
import type { Job, Load, Reply } from './job.ts'
import { parked } from './parked.ts'
import { popAck, popAckLast } from './pop-ack.ts'
import { push } from './push.ts'
import { step } from './step.ts'
import { startTally } from './tally.ts'

const LOADS: Readonly<Record<string, Load>> = {
  push,
  popAck,
  popAckLast,
  step,
  echo,
  parked,
  userTxNone,
  userTxLock,
  userTxPush,
  stepInProcess,
  rawPush,
  rawPushUnique,
  rawPopAck,
  rawStep,
  idle,
  wake,
}

async function run(job: Job): Promise<Reply> {
  const load = LOADS[job.load]
  if (load === undefined) return { ok: false, error: `no load is called ${job.load}` }
  let before = process.cpuUsage()
  try {
    const tally = await load(job, () => {
      before = process.cpuUsage()
      process.send?.('begun')
      setTimeout(() => process.send?.('over'), (job.warmupSeconds + job.seconds) * 1000).unref()
      return startTally(job.warmupSeconds, job.seconds)
    })
    const used = process.cpuUsage(before)
    return {
      ok: true,
      outcome: { figures: tally.figures(), cpu: (used.user + used.system) / 1e6 / (job.seconds + job.warmupSeconds) },
    }
  } catch (error) {
    return { ok: false, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

process.on('message', (job: Job) => {
  void run(job).then((reply) => process.send?.(reply))
})
process.on('disconnect', () => process.exit(0))
