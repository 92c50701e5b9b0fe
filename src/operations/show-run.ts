// What became of a run, or why there is none. Reads only.
import type { Executor } from '../db/executor.ts'
import type { MissingReason, ShownRun } from '../protocol/run.ts'

const SHOW =
  'select missing, state, kind, workflow, version, output, error, attempt, progress, priority, array_to_json(tags)::text, run_key, created_at, finished_at, occurrence from lockstep.show_run($1::uuid, $2)'

function reasonOf(text: string): MissingReason {
  return text === 'uncommitted' || text === 'rolled_back' ? text : 'unknown'
}

function tagsOf(text: string | null): readonly string[] {
  const tags: unknown = text === null ? [] : JSON.parse(text)
  return Array.isArray(tags) ? tags.map(String) : []
}

export async function showRun(
  db: Executor,
  runId: string,
  xid: string | null,
): Promise<ShownRun | { readonly missing: MissingReason }> {
  const [row] = await db.rows(SHOW, [runId, xid])
  const [
    missing = 'unknown',
    state,
    kind,
    workflow,
    version,
    output,
    error,
    attempt,
    progress,
    priority,
    tags,
    key,
    createdAt,
    finishedAt,
    occurrence,
  ] = row ?? []
  if (missing !== null) return { missing: reasonOf(missing) }
  return {
    state: state ?? 'pending',
    kind: kind ?? 'job',
    workflow: workflow ?? '',
    version: version ?? null,
    output: output ?? null,
    error: error ?? null,
    attempt: Number(attempt),
    progress: progress ?? null,
    priority: Number(priority),
    tags: tagsOf(tags ?? null),
    key: key ?? null,
    createdAt: createdAt ?? '',
    finishedAt: finishedAt ?? null,
    occurrence: occurrence ?? null,
  }
}
