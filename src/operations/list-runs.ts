// Runs, newest first. Reads only.
import type { Executor } from '../db/executor.ts'
import type { ListedRun } from '../protocol/run.ts'

export interface RunFilter {
  readonly workflow: string | null
  readonly state: string | null
  readonly tag: string | null
  /** The last one of the page before: its time of making as ISO text, and its id. */
  readonly before: { readonly createdAt: string; readonly runId: string } | null
  readonly limit: number
}

const LIST =
  'select run_id, workflow, kind, state, attempt, array_to_json(tags)::text, error, created_at, finished_at from lockstep.list_runs($1, $2, $3, $4::timestamptz, $5::uuid, $6::int)'

export async function listRuns(db: Executor, filter: RunFilter): Promise<readonly ListedRun[]> {
  const { workflow, state, tag, before, limit } = filter
  const place = [before?.createdAt ?? null, before?.runId ?? null]
  const rows = await db.rows(LIST, [workflow, state, tag, ...place, String(limit)])
  return rows.map(([runId, name, kind, shown, attempt, tags, error, createdAt, finishedAt]) => ({
    runId: runId ?? '',
    workflow: name ?? '',
    kind: kind ?? '',
    state: shown ?? '',
    attempt: Number(attempt),
    tags: tagsOf(tags ?? null),
    error: error ?? null,
    createdAt: createdAt ?? '',
    finishedAt: finishedAt ?? null,
  }))
}

function tagsOf(text: string | null): readonly string[] {
  const tags: unknown = text === null ? [] : JSON.parse(text)
  return Array.isArray(tags) ? tags.map(String) : []
}
