// Row locks: FOR UPDATE only where a row is deleted or replaced (everything else: FOR NO KEY UPDATE, which lets foreign
// shares pass), and a locking statement names exactly one queue, namespace or run by equality (docs/decisions/0001), in an order.
import type { Fault } from '../source/fault.ts'
import { cutSql, statementsOf } from '../source/sql.ts'
import type { Tree } from '../source/tree.ts'
import { lineAt } from '../source/tree.ts'
import { DISTRIBUTED_BY } from './sql-keys.ts'

/** Where FOR UPDATE stands, and why nothing weaker does. */
export const FOR_UPDATE_ALLOWED: Readonly<Record<string, string>> = {
  'sql/functions/group/_open_group.sql':
    'a registration must not miss a partition in the making, which holds KEY SHARE',
  'sql/functions/group/seek_group.sql': 'as a registration: the group gets a new row',
  'sql/functions/group/delete_group.sql': 'as a registration: the group loses or gets a new row',
  'sql/functions/group/set_subscription.sql':
    'as a registration: partitions in the making take the start from the group',
  'sql/functions/queue/delete_queue.sql': 'the queue ends, and staged rows of it are deleted',
  'sql/functions/queue/purge_dead_letters.sql': 'the rows are deleted',
  'sql/functions/queue/redrive_dead_letter.sql': 'the row is deleted',
  'sql/functions/queue/redrive_dead_letters.sql': 'the rows are deleted',
  'sql/functions/schedule/remove_slots.sql': 'the rows are deleted',
  'sql/functions/upkeep/expire_dead_letters.sql': 'the rows are deleted',
  'sql/functions/stream/remove_stream_state.sql': 'the row of the query is deleted, and no cycle may still add to it',
}

/** Where a locking statement may span runs, and why. */
export const MANY_ALLOWED: Readonly<Record<string, string>> = {
  'sql/functions/trace/remove_traces.sql': 'old traces of any message; SKIP LOCKED, so it waits for nobody',
  'sql/functions/activity/remove_activity.sql': 'old counts of any queue; SKIP LOCKED, so it waits for nobody',
  'sql/functions/schedule/remove_slots.sql': 'old slots of any schedule; SKIP LOCKED, so it waits for nobody',
  'sql/functions/run/_claim_ready.sql':
    'a claim takes what is due, whosever run it is; SKIP LOCKED, so it waits for nobody',
  'sql/functions/run/_claim_limited.sql': 'the same, under the limit that it holds',
  'sql/functions/run/_lock_nodes.sql':
    'jobs end in one set, sorted by run; across machines the caller sends one call per machine',
}

const LOCK = /\bfor\s+(no\s+key\s+update|key\s+share|update|share)\b/g

export function checkSqlLocks(
  tree: Tree,
  allowed: Readonly<Record<string, string>> = FOR_UPDATE_ALLOWED,
): readonly Fault[] {
  const faults: Fault[] = []
  for (const file of tree) {
    if (!/^sql\/(functions|queries)\/.*\.sql$/.test(file.path)) continue
    const { code } = cutSql(file.text)
    for (const statement of statementsOf(code)) {
      const locks = [...statement.text.matchAll(LOCK)]
      if (locks.length === 0) continue
      const line = lineAt(code, statement.position)
      if (locks.some((lock) => lock[1] === 'update') && allowed[file.path] === undefined) {
        faults.push({
          path: file.path,
          line,
          what: 'takes FOR UPDATE',
          instead:
            'FOR NO KEY UPDATE; where a row is deleted or replaced, add the file with its reason to tools/checks/sql-locks.ts',
        })
      }
      for (const match of statement.text.matchAll(/\b(?:from|join)\s+(?:lockstep\.)?([a-z_]+)\b(?!\s*\()/g)) {
        const table = match[1] ?? ''
        const column = DISTRIBUTED_BY[table]
        if (column === undefined || column === null) continue
        if (MANY_ALLOWED[file.path] !== undefined) continue
        if (!new RegExp(`\\b${column}\\s*=\\s*(?!any\\b|all\\b)\\S`).test(statement.text)) {
          faults.push({
            path: file.path,
            line,
            what: `locks rows of ${table} without naming one ${column} by equality`,
            instead: `loop over them in order and lock with ${column} = v_…`,
          })
        }
      }
    }
  }
  for (const path of Object.keys(allowed)) {
    const file = tree.find((one) => one.path === path)
    if (file !== undefined && !/\bfor\s+update\b/.test(cutSql(file.text).code)) {
      faults.push({
        path: 'tools/checks/sql-locks.ts',
        line: 1,
        what: `allows FOR UPDATE in ${path}, which takes none`,
        instead: 'remove the entry',
      })
    }
  }
  return faults
}
