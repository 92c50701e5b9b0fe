// Each code file opens with what it decides and what it must never do; a reader should not have to infer it. A unit test
// beside its file needs none: the names of its tests are sentences.
import type { Fault } from '../source/fault.ts'
import type { Tree } from '../source/tree.ts'

export function checkOpenings(tree: Tree): readonly Fault[] {
  return tree.flatMap(({ path, text }) => {
    if (!/^(src|tools|test|bench|examples)\/.*\.(ts|mjs)$/.test(path)) return []
    if (/^(src|tools|bench)\/.*\.test\.ts$/.test(path)) return []
    const lines = text.split('\n')
    const first = lines[0]?.startsWith('#!') ? 1 : 0
    const line = lines[first] ?? ''
    if (line.startsWith('// ') || line.startsWith('/**') || line.startsWith('/// ')) return []
    return [
      {
        path,
        line: first + 1,
        what: 'opens without a comment',
        instead: 'begin with one to five sentences: what this file decides, what it must never do',
      },
    ]
  })
}
