// Every SQL file says at its top what a caller must know. For a function: purpose, locks, raises, idempotence, index;
// for a named query: purpose and index; for a migration: whether it breaks, its phase, its locks.
import { cutSql } from '../source/sql.ts'
import type { Fault } from '../source/fault.ts'
import type { Tree } from '../source/tree.ts'

export const FUNCTION_FIELDS = ['purpose', 'locks in order', 'raises', 'idempotent how', 'index used'] as const
const QUERY_FIELDS = ['purpose', 'index used'] as const
const MIGRATION = /^breaking: (yes|no) · phase: (pre|post) · locks: \S/

export function checkSqlHeaders(tree: Tree): readonly Fault[] {
  const faults: Fault[] = []
  for (const file of tree) {
    if (!file.path.startsWith('sql/') || !file.path.endsWith('.sql')) continue
    const { header } = cutSql(file.text)
    if (file.path.startsWith('sql/migrations/')) {
      if (!MIGRATION.test(header[0] ?? '')) {
        faults.push({
          path: file.path,
          line: 1,
          what: 'a migration without its header line',
          instead: 'begin with `-- breaking: yes|no · phase: pre|post · locks: <which>`',
        })
      }
      continue
    }
    const fields = file.path.startsWith('sql/functions/') ? FUNCTION_FIELDS : QUERY_FIELDS
    for (const field of fields) {
      if (!header.some((line) => line.startsWith(`${field}: `))) {
        faults.push({
          path: file.path,
          line: 1,
          what: `the header has no \`-- ${field}: …\` line`,
          instead: `begin with ${fields.map((name) => `\`-- ${name}: …\``).join(', ')}`,
        })
      }
    }
  }
  return faults
}
