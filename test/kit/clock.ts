// Moves the one clock by which the database decides, for all its sessions and also in the middle of their statements. What a
// lapsed lease or a due backoff does is seen at once; nobody waits for it.
import type { TestDatabase } from '../../src/testing/database.ts'

const MOVABLE = `
  create table public.clock_shift (shift interval not null);
  insert into public.clock_shift values ('0');
  create or replace function lockstep.clock() returns timestamptz language sql volatile parallel safe
    as $$ select pg_catalog.clock_timestamp() + (select shift from public.clock_shift) $$`

const movable = new WeakSet<TestDatabase>()

/** From now on `moveClock` is seen by statements that have already begun. Called by `moveClock` where that does not matter. */
export async function makeClockMovable(own: TestDatabase): Promise<void> {
  if (movable.has(own)) return
  movable.add(own)
  await own.database.pool.query(MOVABLE)
}

/** Forward only, from wherever it stands. */
export async function moveClock(own: TestDatabase, seconds: number): Promise<void> {
  await makeClockMovable(own)
  await own.database.pool.query(`update public.clock_shift set shift = shift + make_interval(secs => $1)`, [seconds])
}
