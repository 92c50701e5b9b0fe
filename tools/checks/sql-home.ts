// SQL text lives in sql/. TypeScript may hold one-line calls of lockstep functions (operations, upkeep), session control
// (db), and anything in tests, tools, benchmarks and the testing kit.
import type { Fault } from '../source/fault.ts'
import type { Tree } from '../source/tree.ts'
import { cutTypeScript } from '../source/typescript.ts'

const STATEMENT =
  /^\s*(with\s+\w+\s+as\s*(materialized\s*)?\(|select\s[\s\S]*(\bfrom\b|\()|insert\s+into\b|update\s+\S+\s+set\b|delete\s+from\b|create\s+(or\s+replace\s+)?(table|index|unique|function|schema|sequence|view|type)\b|alter\s+(table|function|role|sequence)\b|drop\s+(table|function|schema|index)\b|truncate\s|grant\s+(usage|select|insert|update|delete|execute|all)\b[\s\S]*\bto\b|merge\s+into\b)/i
const CALL = /^select [^\n]*\blockstep\.[a-z_]+\s*\([^\n]*$/i
const NO_TABLE =
  /\b(from|join|into|update)\s+(lockstep\.)?(queue|partition|message|consumer_group|lane|staged|dead_letter|kv|request)\b(?!\s*\()/i

const FREE = /^src\/(testing|embedded)\/|\.test\.ts$/
const MAY_CALL = /^src\/(operations|upkeep|client\/transport-postgres|client\/postgres\/|cli|broker)/

export function checkSqlHome(tree: Tree): readonly Fault[] {
  const faults: Fault[] = []
  for (const file of tree) {
    if (!/^src\/.*\.ts$/.test(file.path) || FREE.test(file.path) || file.path.startsWith('src/db/')) continue
    for (const piece of cutTypeScript(file.text)) {
      if (piece.kind !== 'text' && piece.kind !== 'template') continue
      if (!STATEMENT.test(piece.value)) continue
      if (MAY_CALL.test(file.path) && CALL.test(piece.value) && !NO_TABLE.test(piece.value)) continue
      faults.push({
        path: file.path,
        line: piece.line,
        what: `SQL text in TypeScript: '${piece.value.trim().slice(0, 50).replaceAll('\n', ' ')}'`,
        instead: 'put the statement into sql/functions/ or sql/queries/ and call it in one line from src/operations/',
      })
    }
  }
  return faults
}
