// Faults of the way to the database, a lock that was not had, a deadlock: the message did nothing wrong, and its next attempt
// may do better. Everything else that a step throws counts against the message.
const PASSING: ReadonlySet<unknown> = new Set([
  'unavailable',
  'overloaded',
  'busy',
  'timeout',
  'draining',
  'outcome_unknown',
  '40001',
  '40P01',
])

export function isPassing(error: unknown): boolean {
  return error instanceof Error && PASSING.has(Reflect.get(error, 'code'))
}
