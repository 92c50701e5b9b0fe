// Follows the events of node:test and knows which tests are under way, so that a file that ran into its time limit can be told
// by the name of the test that hung. node:test itself names only the file.
import { basename } from 'node:path'

interface Told {
  readonly name?: string
  readonly nesting?: number
  readonly details?: { readonly error?: unknown }
}

export interface RunningTests {
  /** What to say after this event: null but for a file that was cut off. */
  follow(type: string, told: Told): string | null
}

/** The events of two files never mix: node:test holds back those of the second until the first has ended. */
export function createRunningTests(files: readonly string[]): RunningTests {
  const own = new Set(files)
  let running: { readonly name: string; readonly nesting: number }[] = []

  return {
    follow(type, { name = '', nesting = 0, details }) {
      if (!own.has(name)) {
        if (type === 'test:dequeue') running.push({ name, nesting })
        if (type === 'test:complete') running = running.filter((each) => each.name !== name || each.nesting !== nesting)
        return null
      }
      if (type !== 'test:fail') return null
      const path = running.map((each) => each.name).join(' > ')
      running = []
      if (!timedOut(details?.error)) return null
      return path === ''
        ? `${basename(name)} hung while none of its tests ran: something keeps its process alive`
        : `${basename(name)} hung in: ${path}`
    },
  }
}

function timedOut(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, 'failureType') === 'testTimeoutFailure'
}
