// What package.json promises to importers is built from something: every file under exports, imports and bin has its
// source. An entry without one is found by the first user, not by a test.
import type { Fault } from '../source/fault.ts'
import type { Tree } from '../source/tree.ts'

export function checkEntries(tree: Tree): readonly Fault[] {
  const manifest = tree.find((file) => file.path === 'package.json')
  if (manifest === undefined) return []
  return manifest.text.split('\n').flatMap((line, index) => {
    const target = /"\.\/dist\/([^"*]+)"/.exec(line)?.[1]
    if (target === undefined) return []
    const source = `src/${target.replace(/\.(d\.ts|js)$/, '.ts')}`
    if (tree.some((file) => file.path === source)) return []
    return [
      {
        path: 'package.json',
        line: index + 1,
        what: `promises dist/${target}, which no ${source} makes`,
        instead: 'write it, or take the entry out until it is there',
      },
    ]
  })
}
