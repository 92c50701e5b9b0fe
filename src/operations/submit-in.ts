// Submit inside somebody's open transaction: one statement through the door. The runs exist when that transaction commits.
import { arrayLiteral } from '../db/array-literal.ts'
import type { Door } from '../db/executor.ts'
import type { OutgoingRun, Submitted } from '../protocol/run.ts'
import { plainJobs } from './plain-jobs.ts'
import { runLines } from './run-lines.ts'

const SUBMIT =
  'select lockstep.submit_in($1::text::uuid[], $2::text::text[], $3::text::text[], $4::text::text[], $5::text::text[], $6::text::text[], $7::text::text[], $8::text::int[], $9::text::bigint[], $10::text::text[], $11::text::bigint[], $12::text::int[], $13::text::bigint[], $14::text::bigint[], $15::text::text[], $16::text::int[], $17::text::bigint[], $18::text::uuid[], $19::text::int[], $20::text::uuid[], $21::text::int[], $22::text::text[])::text as r'

const ENQUEUE =
  'select lockstep.enqueue_in($1::text::uuid, $2::text, $3::text, $4::text::int, $5::text::bigint, $6::text::int, $7::text::bigint, $8::text::bigint)::text as r'

/** The parameters of one job that has nothing but its policy; null for everything else. */
function plainJob(runs: readonly OutgoingRun[]): readonly string[] | null {
  const [run] = runs
  const plain = runs.length > 1 ? null : plainJobs(runs)
  return run === undefined || plain === null ? null : [run.runId, plain.action, run.input, ...plain.policy]
}

export async function submitIn(door: Door, runs: readonly OutgoingRun[]): Promise<Submitted> {
  if (runs.length === 0) return { runs: [], xid: null }
  const plain = plainJob(runs)
  const text = await (plain === null ? door.text(SUBMIT, runLines(runs).map(arrayLiteral)) : door.text(ENQUEUE, plain))
  // The text is written by our own SQL function; its shape is its own and tested with it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(text ?? '{"runs":[],"xid":null}') as Submitted
}
