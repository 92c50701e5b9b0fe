// Waiting that a signal may end early. It never rejects: whoever waited looks at the signal.

export function pause(milliseconds: number, signal: AbortSignal | null = null): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true || milliseconds <= 0) return resolve()
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    signal?.addEventListener('abort', end)
  })
}
