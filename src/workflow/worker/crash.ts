// Thrown by a test's hook in the place of a process that died there: whoever catches it writes nothing more and lets the lease
// lapse. Nothing else throws it.
export class Crash extends Error {
  override readonly name = 'Crash'
}
