// Moves the one clock by which the database decides, for all its sessions. What a lapsed lease or a due backoff does is seen
// at once; nobody waits for it.
import type { TestDatabase } from '../../src/testing/database.ts'

const moved = new WeakMap<TestDatabase, number>()

/** Forward only, from wherever it stands. */
export async function moveClock(own: TestDatabase, seconds: number): Promise<void> {
  const total = (moved.get(own) ?? 0) + seconds
  moved.set(own, total)
  await own.database.pool.query(
    `create or replace function lockstep.clock() returns timestamptz language sql volatile parallel safe
      as $$ select pg_catalog.clock_timestamp() + interval '${total} seconds' $$`,
  )
}
