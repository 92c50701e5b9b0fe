// The tests' way to the movable clock of the testing kit: made movable at its first move, at most once per database.
import { makeClockMovable as prepare, moveClock as move } from '../../src/testing/move-clock.ts'
import type { TestDatabase } from '../../src/testing/database.ts'

const movable = new WeakSet<TestDatabase>()

/** From now on `moveClock` is seen by statements that have already begun. Called by `moveClock` where that does not matter. */
export async function makeClockMovable(own: TestDatabase): Promise<void> {
  if (movable.has(own)) return
  movable.add(own)
  await prepare(own.database)
}

/** Forward only, from wherever it stands. */
export async function moveClock(own: TestDatabase, seconds: number): Promise<void> {
  await makeClockMovable(own)
  await move(own.database, seconds * 1000)
}
