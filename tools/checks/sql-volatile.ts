// No volatile function inside an UPDATE, a DELETE or a WHERE: the clock, a version, a uuid is drawn into a variable
// first. There it would not bound an index scan, would not be judged again after a lock, and no distributed PostgreSQL
// would take it.
import type { Fault } from '../source/fault.ts'
import { cutSql, statementsOf } from '../source/sql.ts'
import type { Tree } from '../source/tree.ts'
import { lineAt } from '../source/tree.ts'

const VOLATILE = /\b(?:clock|clock_timestamp|nextval|uuid7|gen_random_uuid|random)\s*\(/g
const CHANGES =
  /(?<!\bfor\s)(?<!\bno\skey\s)(?<!\bdo\s)\bupdate\s+[a-z_.]+\s+(?:as\s+)?(?:[a-z_]+\s+)?set\b|\bdelete\s+from\b/

export function checkSqlVolatile(tree: Tree): readonly Fault[] {
  const faults: Fault[] = []
  for (const file of tree) {
    if (!/^sql\/.*\.sql$/.test(file.path)) continue
    const { code } = cutSql(file.text)
    for (const statement of statementsOf(code)) {
      const changes = CHANGES.test(statement.text)
      for (const match of statement.text.matchAll(VOLATILE)) {
        const judged = /\b(?:where|on|having)\b[^;]*$/.test(lastClause(statement.text.slice(0, match.index)))
        if (!changes && !judged) continue
        faults.push({
          path: file.path,
          line: lineAt(code, statement.position + match.index),
          what: `${match[0].replace(/\s*\($/, '()')} inside ${changes ? 'an UPDATE or DELETE' : 'a WHERE'}`,
          instead: 'draw it into a variable in its own statement first',
        })
      }
    }
  }
  return faults
}

/** What precedes, back to the clause it stands in. */
function lastClause(text: string): string {
  const starts = [
    ...text.matchAll(/\b(?:select|values|set|returning|from|where|having|order\s+by|on\s+conflict|if|while|when)\b/g),
  ]
  const last = starts.at(-1)
  return last === undefined ? text : text.slice(last.index)
}
