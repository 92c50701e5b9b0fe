// Keys that one machine outgrown still carries: the primary key and every unique key of a distributed table begin with,
// or contain, the column it is distributed by. docs/decisions/0001 has the list in words; this is the list.
import type { Fault } from '../source/fault.ts'
import { cutSql } from '../source/sql.ts'
import type { Tree } from '../source/tree.ts'
import { lineAt } from '../source/tree.ts'

/** Distribution column by table; null is a small table read everywhere (a reference table there). */
export const DISTRIBUTED_BY: Readonly<Record<string, string | null>> = {
  queue: null,
  consumer_group: null,
  partition: 'queue_id',
  message: 'queue_id',
  lane: 'queue_id',
  dead_letter: 'queue_id',
  log_cut: 'queue_id',
  staged: 'queue_name',
  kv: 'ns',
  timer: 'queue_name',
  request: 'id',
  workflow_version: null,
  node: 'run_id',
  step: 'run_id',
  signal: 'run_id',
  run_key: 'workflow',
  run_limit: 'want',
  schedule: null,
  schedule_slot: 'schedule',
  trace: 'partition_id',
  trace_name: 'name',
  activity: 'queue',
  stream_query: null,
  ephemeral_queue: null,
  stream_state: 'query_id',
  encryption_key: null,
  audit: null,
  migration: null,
}

export function checkSqlKeys(tree: Tree): readonly Fault[] {
  const faults: Fault[] = []
  for (const file of tree) {
    if (!/^sql\/migrations\/.*\.sql$/.test(file.path)) continue
    const { code } = cutSql(file.text)
    for (const match of code.matchAll(
      /create\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?lockstep\.([a-z_]+)\s*\(/g,
    )) {
      const table = match[1] ?? ''
      const at = { path: file.path, line: lineAt(code, match.index) }
      const column = DISTRIBUTED_BY[table]
      if (column === undefined) {
        faults.push({
          ...at,
          what: `table ${table} has no distribution column yet`,
          instead: 'add it to tools/checks/sql-keys.ts and to docs/decisions/0001',
        })
        continue
      }
      const end = code.indexOf(';', match.index)
      const body = code.slice(match.index, end === -1 ? undefined : end)
      const key =
        /\bprimary\s+key\s*\(\s*"?([a-z_]+)/.exec(body)?.[1] ??
        /[(,]\s*"?([a-z_]+)"?\s[^,]*\bprimary\s+key\b(?!\s*\()/.exec(body)?.[1]
      if (key === undefined)
        faults.push({ ...at, what: `table ${table} has no primary key`, instead: 'every table has one' })
      else if (column !== null && key !== column) {
        faults.push({
          ...at,
          what: `the primary key of ${table} begins with ${key}`,
          instead: `begin it with ${column}`,
        })
      }
      for (const unique of body.matchAll(/\bunique\s*\(([^)]*)\)/g)) {
        if (column !== null && !(unique[1] ?? '').split(/[\s,"]+/).includes(column)) {
          faults.push({
            ...at,
            what: `a unique key of ${table} does not contain ${column}`,
            instead: 'a distributed PostgreSQL cannot keep it: add the column or do without',
          })
        }
      }
    }
    for (const match of code.matchAll(
      /create\s+unique\s+index\s+(?:[a-z_]+\s+)?on\s+lockstep\.([a-z_]+)\s*\(([^)]*)\)/g,
    )) {
      const column = DISTRIBUTED_BY[match[1] ?? ''] ?? null
      if (column !== null && !(match[2] ?? '').split(/[\s,"]+/).includes(column)) {
        faults.push({
          path: file.path,
          line: lineAt(code, match.index),
          what: `a unique index of ${match[1] ?? ''} does not contain ${column}`,
          instead: 'add the column or do without',
        })
      }
    }
  }
  return faults
}
