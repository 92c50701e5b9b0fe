// Starts the heartbeat's thread and keeps it told: its whole program is one text, so that bundlers need to know nothing of it.
// Where the connection's settings cannot cross to a thread, or the thread ends, the beat runs on the main loop, and says so.
import { Worker } from 'node:worker_threads'
import type { ClientConfig } from 'pg'
import { HEARTBEAT } from '../../operations/heartbeat.ts'
import type { Held } from './held-nodes.ts'
import type { FromHeartbeat, HeartbeatData, ToHeartbeat } from './heartbeat-main.ts'
import { beatIntervalMs, startHeartbeatLoop, type Heartbeat, type HeartbeatPorts } from './heartbeat-loop.ts'
import { HEARTBEAT_SOURCE } from './heartbeat-source.gen.ts'

export interface HeartbeatThreadPorts extends HeartbeatPorts {
  readonly maxStallMs: number
  /** Null when the connections are the application's own. */
  readonly connection: ClientConfig | null
  readonly onNotice: (message: string) => void
}

/** The main loop's sign of life, and how often the thread's list is put right. */
const LONGEST_TICK_MS = 1_000
/** A thread that takes longer to connect is not waited for. */
const READY_MS = 5_000

/** A copy that may cross, or null when functions (a password, a socket) are among the settings. */
function crossing(config: ClientConfig | null): ClientConfig | null {
  if (config === null) return null
  try {
    return structuredClone(config)
  } catch {
    return null
  }
}

/** One text for all: a list of lists costs both threads more than the rest of a claim's way. The thread reads it at its beat. */
function beatLines(nodes: readonly Held[], leaseMs: number): string {
  const origin = performance.timeOrigin - leaseMs
  let text = ''
  for (const { node, leaseUntil } of nodes) {
    text += `${node.runId} ${node.ordinal} ${node.leaseId} ${Math.floor(origin + leaseUntil)}\n`
  }
  return text
}

export function startHeartbeat(ports: HeartbeatThreadPorts): Heartbeat {
  const connection = crossing(ports.connection)
  if (connection === null) {
    ports.onNotice('the heartbeat runs on the main loop: these connection settings cannot cross to a thread')
    return startHeartbeatLoop(ports)
  }
  return startThread(ports, connection)
}

function startThread(ports: HeartbeatThreadPorts, connection: ClientConfig): Heartbeat {
  const { held, leaseMs, maxStallMs } = ports
  const intervalMs = beatIntervalMs(leaseMs)
  const workerData: HeartbeatData = {
    connection: { ...connection, application_name: 'lockstep-heartbeat' },
    statement: HEARTBEAT,
    leaseMs,
    intervalMs,
    maxStallMs,
  }
  const thread = new Worker(Buffer.from(HEARTBEAT_SOURCE, 'base64').toString('utf8'), { eval: true, workerData })
  thread.unref()
  // A thread is no window: there is no origin to name.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  const send = (message: ToHeartbeat): void => thread.postMessage(message)
  let fallback: Heartbeat | null = null
  let stopped = false
  let begun: () => void = () => {}
  const ready = new Promise<void>((resolve) => {
    begun = resolve
    setTimeout(resolve, READY_MS).unref()
  })

  thread.on('message', (message: FromHeartbeat) => {
    if ('ready' in message) begun()
    else if ('fault' in message) ports.onFault(new Error(message.fault))
    else if ('stalledMs' in message) {
      ports.onNotice(`the event loop stood still for ${Math.round(message.stalledMs)} ms: its claims were let go`)
    } else {
      const at = message.at - performance.timeOrigin
      for (const [[runId, ordinal, leaseId], holds] of message.beaten) {
        if (holds) held.renewed({ runId, ordinal, leaseId }, at)
        else held.leave({ runId, ordinal, leaseId }, 'lost')
      }
    }
  })
  function fallBack(error: Error | null): void {
    begun()
    if (stopped || fallback !== null) return
    ports.onNotice(
      `the heartbeat's thread has ended${error === null ? '' : ` (${error.message})`}: the beat runs on the main loop`,
    )
    fallback = startHeartbeatLoop(ports)
  }
  thread.on('error', fallBack)
  thread.on('exit', () => fallBack(null))

  const timer = setInterval(
    () => send({ all: beatLines(held.all(), leaseMs) }),
    Math.min(LONGEST_TICK_MS, intervalMs / 2),
  )

  return {
    ready,
    add(nodes) {
      if (nodes.length > 0) send({ add: beatLines(nodes, leaseMs) })
    },
    async stop() {
      stopped = true
      clearInterval(timer)
      send({ stop: true })
      await Promise.all([fallback?.stop(), thread.terminate()])
    },
    get kind() {
      return fallback === null ? 'thread' : 'loop'
    },
  }
}
