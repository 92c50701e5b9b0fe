// No `any` but the named default `Untyped`, and no comment that switches the compiler or the linter off without saying
// why: behind two dashes, or in a comment on the line above.
import type { Fault } from '../source/fault.ts'
import type { Tree } from '../source/tree.ts'
import { lineAt } from '../source/tree.ts'
import { codeOnly, cutTypeScript } from '../source/typescript.ts'

const ANY = /(?:[:<,|&(=]|\bas|\bextends)\s*any\b(?!\s*\??:)/g
const SWITCH = /@ts-(?:ignore|nocheck|expect-error)|(?:eslint|oxlint)-disable(?:-next-line|-line)?/

export function checkAny(tree: Tree): readonly Fault[] {
  const faults: Fault[] = []
  for (const file of tree) {
    // Tests read JSON of the wire; the linter judges them.
    if (!/^(src|tools|bench|examples)\/.*\.ts$/.test(file.path)) continue
    const pieces = cutTypeScript(file.text)
    const code = codeOnly(pieces)
    const lines = file.text.split('\n')
    for (const match of code.matchAll(ANY)) {
      const line = lineAt(code, match.index)
      if (/\btype Untyped = any\b/.test(lines[line - 1] ?? '')) continue
      if (/oxlint-disable-next-line typescript\/no-explicit-any/.test(lines[line - 2] ?? '')) continue
      faults.push({
        path: file.path,
        line,
        what: 'uses any',
        instead: 'use unknown and check it, a type parameter, or Untyped where the grammar promises it',
      })
    }
    for (const piece of pieces) {
      const mark = piece.kind === 'comment' ? SWITCH.exec(piece.value)?.[0] : undefined
      // A type test says with expect-error what must not compile.
      if (mark === undefined || (mark === '@ts-expect-error' && file.path.endsWith('.test.ts'))) continue
      const above = lines[piece.line - 2]?.trimStart() ?? ''
      const said = / -- \S/.test(piece.value) || (above.startsWith('// ') && piece.line > 2)
      if (said && mark === 'oxlint-disable-next-line') continue
      faults.push({
        path: file.path,
        line: piece.line,
        what: `switches a check off (${mark})`,
        instead: 'mend what it complains about, or say why on the line above',
      })
    }
  }
  return faults
}
