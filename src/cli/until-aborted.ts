// Keeps a program that serves running until it is told to stop, or until what it serves from is lost.

/** Resolves when the signal is aborted; rejects as `lost` does. The timer keeps the process alive meanwhile, whatever else does not. */
export async function untilAborted(signal: AbortSignal, lost: Promise<never> | null = null): Promise<void> {
  if (signal.aborted) return
  const alive = setInterval(() => {}, 60_000)
  const aborted = new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }))
  try {
    await (lost === null ? aborted : Promise.race([aborted, lost]))
  } finally {
    clearInterval(alive)
  }
}
