// Small files: a file that outgrows these bounds holds more than one thing.
import type { Fault } from '../source/fault.ts'
import type { Tree } from '../source/tree.ts'

const BOUNDS: readonly { readonly pattern: RegExp; readonly lines: number }[] = [
  { pattern: /^(src|tools|test|bench|examples|dashboard)\/.*\.(ts|tsx|mjs|js)$/, lines: 400 },
  { pattern: /^sql\/.*\.sql$/, lines: 200 },
]

export function checkSizes(tree: Tree): readonly Fault[] {
  return tree.flatMap((file) => {
    const bound = BOUNDS.find((one) => one.pattern.test(file.path))
    const lines = file.text.split('\n').length - 1
    if (bound === undefined || lines <= bound.lines || file.path.includes('.gen.')) return []
    return [
      {
        path: file.path,
        line: bound.lines + 1,
        what: `${lines} lines, more than ${bound.lines}`,
        instead: 'find the second thing this file decides and give it a file named after it',
      },
    ]
  })
}
