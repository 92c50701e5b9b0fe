// Thrown by a test's hook in the place of a process that died there: whoever catches it writes nothing more and lets the lease
// lapse. Nothing else throws it. Known by its name, because the test and the worker may have loaded two copies of this file.
export class Crash extends Error {
  override readonly name = 'Crash'
}

export function isCrash(error: unknown): boolean {
  return error instanceof Error && error.name === 'Crash'
}
