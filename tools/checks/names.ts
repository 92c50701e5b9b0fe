// File names say the one thing a file exports, in kebab-case (SQL: snake_case, as its function); drawers are refused.
import type { Fault } from '../source/fault.ts'
import type { Tree } from '../source/tree.ts'

const DRAWERS = /^(utils?|helpers?|common|misc|managers?|services?|types?)$/
/** As the last word of a longer name; `user-types.test.ts` is about the types of users. */
const DRAWER_ENDS = /[-_](utils?|helpers?|common|misc|managers?|services?)$/
const CODE = /^(src|tools|test|bench|examples|dashboard)\/.*\.(ts|tsx|mjs)$/
const SQL = /^sql\/(functions|queries)\/.*\.sql$/
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|gen|d))?$/
const SNAKE = /^_?[a-z0-9]+(_[a-z0-9]+)*$/

export function checkNames(tree: Tree): readonly Fault[] {
  const faults: Fault[] = []
  for (const { path } of tree) {
    const isCode = CODE.test(path)
    const isSql = SQL.test(path)
    if (!isCode && !isSql) continue
    const parts = path.split('/')
    const base = (parts.at(-1) ?? '').replace(/\.(ts|tsx|mjs|sql)$/, '')
    const name = base.replace(/\.(test|gen|d)$/, '')
    const drawer = [...parts.slice(1, -1), name].find((word) => DRAWERS.test(word)) ?? DRAWER_ENDS.exec(name)?.[1]
    if (drawer !== undefined) {
      faults.push({
        path,
        line: 1,
        what: `'${drawer}' names a drawer, not a thing`,
        instead: 'name the file after the one thing it exports',
      })
    }
    if (isCode && !KEBAB.test(base)) {
      faults.push({ path, line: 1, what: `'${base}' is not kebab-case`, instead: 'lower-case words joined by dashes' })
    }
    if (isSql && !SNAKE.test(base)) {
      faults.push({
        path,
        line: 1,
        what: `'${base}' is not snake_case`,
        instead: 'the name of the function it defines',
      })
    }
  }
  return faults
}
