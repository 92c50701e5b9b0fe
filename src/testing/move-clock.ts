// Moves the one clock by which the database decides: for all its sessions, also in the middle of their statements, forward
// only. What a lapsed lease or a due pause does is seen at once; nobody waits for it.
import type { Executor } from '../db/executor.ts'

const PREPARE = [
  'create schema if not exists lockstep_testing',
  'create table if not exists lockstep_testing.clock_shift (shift interval not null)',
  `insert into lockstep_testing.clock_shift select '0' where not exists (select from lockstep_testing.clock_shift)`,
  'grant usage on schema lockstep_testing to public',
  'grant select on lockstep_testing.clock_shift to public',
  `create or replace function lockstep.clock() returns timestamptz language sql volatile parallel safe
   as $$ select pg_catalog.clock_timestamp() + (select shift from lockstep_testing.clock_shift) $$`,
]
const MOVE = `update lockstep_testing.clock_shift set shift = shift + make_interval(secs => $1::float8 / 1000) returning 1`

/** From now on a move is seen by statements that have already begun. */
export async function makeClockMovable(database: Executor): Promise<void> {
  for (const statement of PREPARE) await database.rows(statement, [])
}

/** Of a clock that was made movable. */
export async function moveClock(database: Executor, milliseconds: number): Promise<void> {
  await database.rows(MOVE, [String(milliseconds)])
}
