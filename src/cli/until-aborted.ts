// Keeps a program that serves running until it is told to stop.

/** Resolves when the signal is aborted. The timer keeps the process alive meanwhile, whatever else does not. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const alive = setInterval(() => {}, 60_000)
  await new Promise((done) => signal.addEventListener('abort', done, { once: true }))
  clearInterval(alive)
}
