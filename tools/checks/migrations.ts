// Migrations are numbered without a gap and, once released, frozen: sql/migrations/frozen.txt holds the sha256 of each
// released file, in the form of sha256sum. A released file is never changed, a new one follows it.
import { createHash } from 'node:crypto'
import type { Fault } from '../source/fault.ts'
import type { Tree } from '../source/tree.ts'

export const FROZEN = 'sql/migrations/frozen.txt'

export function checkMigrations(tree: Tree): readonly Fault[] {
  const faults: Fault[] = []
  const files = tree.filter((file) => /^sql\/migrations\/[^/]+\.sql$/.test(file.path))
  for (const [index, file] of files.entries()) {
    const expected = String(index + 1).padStart(4, '0')
    if (!new RegExp(`/${expected}_[a-z0-9_]+\\.sql$`).test(file.path)) {
      faults.push({
        path: file.path,
        line: 1,
        what: 'breaks the numbering of migrations',
        instead: `the next number is ${expected}: ${expected}_<what_it_does>.sql`,
      })
    }
  }
  const frozen = tree.find((file) => file.path === FROZEN)
  for (const [index, line] of (frozen?.text ?? '').split('\n').entries()) {
    if (line === '' || line.startsWith('#')) continue
    const [sum, name] = line.split(/\s+/)
    const file = files.find((one) => one.path === `sql/migrations/${name ?? ''}`)
    if (file === undefined) {
      faults.push({
        path: FROZEN,
        line: index + 1,
        what: `the released migration ${name ?? ''} is gone`,
        instead: 'put it back: databases in the field have it',
      })
    } else if (createHash('sha256').update(file.text).digest('hex') !== sum) {
      faults.push({
        path: file.path,
        line: 1,
        what: 'a released migration was changed',
        instead: 'put it back as it was and write the change as a new migration',
      })
    }
  }
  return faults
}
