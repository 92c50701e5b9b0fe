// Runs, newest first. Reads only.
import type { Executor } from '../db/executor.ts'

export interface RunFilter {
  readonly workflow: string | null
  readonly state: string | null
  readonly tag: string | null
  /** ISO text: only runs made before. */
  readonly before: string | null
  readonly limit: number
}

export interface ListedRun {
  readonly runId: string
  readonly workflow: string
  readonly kind: string
  readonly state: string
  readonly attempt: number
  readonly tags: readonly string[]
  /** JSON {code, message, …}. */
  readonly error: string | null
  readonly createdAt: string
  readonly finishedAt: string | null
}

const LIST =
  'select run_id, workflow, kind, state, attempt, array_to_json(tags)::text, error, created_at, finished_at from lockstep.list_runs($1, $2, $3, $4::timestamptz, $5::int)'

export async function listRuns(db: Executor, filter: RunFilter): Promise<readonly ListedRun[]> {
  const { workflow, state, tag, before, limit } = filter
  const rows = await db.rows(LIST, [workflow, state, tag, before, String(limit)])
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
