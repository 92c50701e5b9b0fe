// One error table: every SQLSTATE that sql/ raises as its own is in it, every code that claims an own SQLSTATE is raised,
// and every code is used. The generated page is compared by the freshness check.
import { ERRORS } from '../../src/protocol/errors.ts'
import type { Fault } from '../source/fault.ts'
import type { Tree } from '../source/tree.ts'
import { lineAt } from '../source/tree.ts'

const TABLE = 'src/protocol/errors.ts'
/** Names every code and uses none. */
const MEANINGS = 'src/protocol/error-meanings.ts'

export interface Row {
  readonly sqlstate: string | null
}

export function checkErrors(tree: Tree, table: Readonly<Record<string, Row>> = ERRORS): readonly Fault[] {
  const faults: Fault[] = []
  const raised = new Set<string>()
  const known = new Map(
    Object.entries(table).flatMap(([code, row]) => (row.sqlstate === null ? [] : [[row.sqlstate, code] as const])),
  )
  for (const file of tree) {
    if (!/^sql\/.*\.sql$/.test(file.path)) continue
    for (const match of file.text.matchAll(/'(LS[0-9A-Z]{3})'/g)) {
      const state = match[1] ?? ''
      raised.add(state)
      if (!known.has(state)) {
        faults.push({
          path: file.path,
          line: lineAt(file.text, match.index),
          what: `raises ${state}, which ${TABLE} does not have`,
          instead: 'add a row to the table, or raise one that is there',
        })
      }
    }
    for (const match of file.text.matchAll(/detail\s*=\s*'([a-z_]+)'/g)) {
      const code = match[1] ?? ''
      if (!(code in table)) {
        faults.push({
          path: file.path,
          line: lineAt(file.text, match.index),
          what: `raises the code '${code}', which ${TABLE} does not have`,
          instead: 'add a row to the table, or raise one that is there',
        })
      }
    }
  }
  const source = tree.find((file) => file.path === TABLE)?.text ?? ''
  const users = tree.filter(
    (file) =>
      /^src\/.*\.ts$/.test(file.path) &&
      file.path !== TABLE &&
      file.path !== MEANINGS &&
      !file.path.endsWith('.test.ts'),
  )
  for (const [code, row] of Object.entries(table)) {
    const line = Math.max(source.split('\n').findIndex((text) => text.trimStart().startsWith(`${code}:`)) + 1, 1)
    const own = row.sqlstate?.startsWith('LS') === true
    if (own && !raised.has(row.sqlstate ?? '')) {
      faults.push({
        path: TABLE,
        line,
        what: `'${code}' claims SQLSTATE ${row.sqlstate}, which nothing in sql/ raises`,
        instead: 'set sqlstate to null, or raise it',
      })
    }
    const quoted = new RegExp(`['"\`]${code}['"\`]`)
    // A code with a SQLSTATE of PostgreSQL's own is reached through the table itself.
    if (row.sqlstate === null && !users.some((file) => quoted.test(file.text))) {
      faults.push({
        path: TABLE,
        line,
        what: `nothing uses the code '${code}'`,
        instead: 'remove the row: a contract that nothing keeps misleads',
      })
    }
  }
  return faults
}
