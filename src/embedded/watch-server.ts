// Notices that a server has gone that nobody here stopped: killed, crashed, or out of memory. It only looks whether the process
// lives; a server that was taken over is no child of ours and sends no event.

import { processAlive } from './process-alive.ts'

export interface ServerWatch {
  /** Resolves when the process is gone; never after `end`. */
  readonly gone: Promise<void>
  end(): void
}

const EVERY_MS = 500

/** Keeps no process alive. */
export function watchServer(pid: number, everyMs: number = EVERY_MS): ServerWatch {
  let end: () => void = () => {}
  const gone = new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (processAlive(pid)) return
      clearInterval(timer)
      resolve()
    }, everyMs)
    timer.unref()
    end = () => clearInterval(timer)
  })
  return { gone, end: () => end() }
}
