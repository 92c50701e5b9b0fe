// Says what a command is waiting for once it has waited a second, and again every five: silence looks like a hang.

import type { Output } from './output.ts'

/** The promise itself; the line only appears when it takes longer than a second. */
export async function withProgress<T>(output: Output, title: string, work: Promise<T>): Promise<T> {
  const began = performance.now()
  let next = 1_000
  const timer = setInterval(() => {
    const waited = performance.now() - began
    if (waited < next) return
    output.progress(next === 1_000 ? `${title} …` : `${title} … (${Math.round(waited / 1000)} s)`)
    next += 5_000
  }, 250)
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}
