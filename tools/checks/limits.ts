// Every limit is enforced somewhere: a bound that nothing reads is a promise that nobody keeps. SQL cannot read the
// table, so a line there that needs a bound writes the number and names it: `limit 1000 -- LIMITS.placedPerVisit`.
import type { Fault } from '../source/fault.ts'
import type { Tree } from '../source/tree.ts'

const TABLE = 'src/protocol/limits.ts'

export function checkLimits(tree: Tree): readonly Fault[] {
  const table = tree.find((file) => file.path === TABLE)
  if (table === undefined) return []
  const users = tree.filter(
    (file) => /^src\/.*\.ts$/.test(file.path) && file.path !== TABLE && !file.path.endsWith('.test.ts'),
  )
  const lines = sqlLines(tree)
  return table.text.split('\n').flatMap((text, index): Fault[] => {
    const [, name, amount] = /^ {2}([a-zA-Z]+): ([\d_]+)/.exec(text) ?? []
    if (name === undefined) return []
    const inSql = lines.filter((line) => new RegExp(`LIMITS\\.${name}\\b`).test(line.text))
    const wrong = inSql.filter((line) => !new RegExp(`\\b${(amount ?? '').replaceAll('_', '')}\\b`).test(line.text))
    if (wrong.length > 0) {
      return wrong.map((line) => ({
        path: line.path,
        line: line.line,
        what: `the number beside LIMITS.${name} is not ${amount ?? ''}`,
        instead: `write the number of ${TABLE}`,
      }))
    }
    if (inSql.length > 0 || users.some((file) => new RegExp(`LIMITS\\.${name}\\b`).test(file.text))) return []
    return [
      {
        path: TABLE,
        line: index + 1,
        what: `nothing enforces the limit '${name}'`,
        instead: 'check it at the door it belongs to, or remove it',
      },
    ]
  })
}

function sqlLines(tree: Tree): { readonly path: string; readonly line: number; readonly text: string }[] {
  return tree
    .filter((file) => file.path.endsWith('.sql'))
    .flatMap((file) => file.text.split('\n').map((text, index) => ({ path: file.path, line: index + 1, text })))
    .filter((line) => line.text.includes('LIMITS.'))
}
