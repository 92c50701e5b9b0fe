// Waits for a condition instead of sleeping; says what was awaited when it does not come. The minute is for busy machines.
import { setTimeout as sleep } from 'node:timers/promises'

export async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<void> {
  const end = performance.now() + withinMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`${what}: not within ${withinMs} ms`)
    await sleep(10)
  }
}

/** A promise and its resolution, for letting a handler wait for the test. */
export function gate<T = void>(): { readonly passed: Promise<T>; readonly open: (value: T) => void } {
  let open: (value: T) => void = () => {}
  const passed = new Promise<T>((resolve) => {
    open = resolve
  })
  return { passed, open: (value) => open(value) }
}
