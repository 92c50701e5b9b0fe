// Trees made of nothing but planted files, for the tests of the checks.
import type { Fault } from './fault.ts'
import type { Tree } from './tree.ts'

export function planted(files: Readonly<Record<string, string>>): Tree {
  return Object.entries(files).map(([path, text]) => ({ path, text }))
}

/** `path:line` of each fault, in order. */
export function places(faults: readonly Fault[]): readonly string[] {
  return faults.map((fault) => `${fault.path}:${fault.line}`)
}

/** Two halves put together, so that a file of ours does not contain what it plants. */
export function joined(one: string, two: string): string {
  return one + two
}
