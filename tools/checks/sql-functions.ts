// How a function is declared: one name per file, the file's; security definer with a fixed search path, so that an
// application role needs EXECUTE only; parameters p_, locals v_.
import type { Fault } from '../source/fault.ts'
import { cutSql } from '../source/sql.ts'
import type { Tree } from '../source/tree.ts'
import { lineAt } from '../source/tree.ts'

const PATH = /set\s+search_path\s*=\s*pg_catalog,\s*lockstep,\s*pg_temp\b/

export function checkSqlFunctions(tree: Tree): readonly Fault[] {
  const faults: Fault[] = []
  for (const file of tree) {
    if (!file.path.startsWith('sql/functions/') || !file.path.endsWith('.sql')) continue
    const { code } = cutSql(file.text)
    const base = file.path.split('/').at(-1)?.replace('.sql', '') ?? ''
    const heads = [
      ...code.matchAll(/create\s+(?:or\s+replace\s+)?(?:function|procedure)\s+([a-z0-9_.]+)\s*\(([\s\S]*?)\bas\s+\$/g),
    ]
    if (heads.length === 0) {
      faults.push({
        path: file.path,
        line: 1,
        what: 'defines no function',
        instead: 'one public verb per file; reads for lists go to sql/queries/',
      })
    }
    for (const head of heads) {
      const line = lineAt(code, head.index)
      const name = head[1] ?? ''
      const text = head[2] ?? ''
      const put = (what: string, instead: string): void => {
        faults.push({ path: file.path, line, what: `${name}: ${what}`, instead })
      }
      if (name !== `lockstep.${base}`)
        put('is not named as its file', `call it lockstep.${base}, or give it its own file`)
      const plain = /language\s+sql\b/.test(text)
      const definer = /security\s+definer/.test(text)
      if (!plain && !PATH.test(text)) put('has no fixed search path', 'set search_path = pg_catalog, lockstep, pg_temp')
      if (definer && !PATH.test(text))
        put('security definer without the fixed search path', 'set search_path = pg_catalog, lockstep, pg_temp')
      if (!plain && !base.startsWith('_') && !definer)
        put('is public and not security definer', 'declare it security definer: roles get EXECUTE only')
      const bare = /(?:^|,)\s*(?!p_|out\b|in\b|inout\b|variadic\b)([a-z_]+)\s+[a-z]/.exec(parameters(text))?.[1]
      if (bare !== undefined) put(`its parameter ${bare} does not begin with p_`, `call it p_${bare}`)
    }
  }
  return faults
}

/** The parameter list: up to the parenthesis that closes it. */
function parameters(text: string): string {
  let depth = 1
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1
    if (text[at] === ')') depth -= 1
    if (depth === 0) return text.slice(0, at)
  }
  return text
}
