// No `any` but the named default `Untyped`, and no comment that switches the compiler or the linter off.
import type { Fault } from '../source/fault.ts'
import type { Tree } from '../source/tree.ts'
import { lineAt } from '../source/tree.ts'
import { codeOnly, cutTypeScript } from '../source/typescript.ts'

const ANY = /(?:[:<,|&(=]|\bas|\bextends)\s*any\b(?!\s*\??:)/g
const SWITCH = /@ts-(ignore|nocheck|expect-error)|(?:eslint|oxlint)-disable(?!-next-line typescript\/no-explicit-any)/

export function checkAny(tree: Tree): readonly Fault[] {
  const faults: Fault[] = []
  for (const file of tree) {
    if (!/^(src|tools|test|bench|examples)\/.*\.ts$/.test(file.path)) continue
    const pieces = cutTypeScript(file.text)
    const code = codeOnly(pieces)
    for (const match of code.matchAll(ANY)) {
      const line = lineAt(code, match.index)
      if (/\btype Untyped = any\b/.test(code.split('\n')[line - 1] ?? '')) continue
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
      faults.push({
        path: file.path,
        line: piece.line,
        what: `switches a check off (${mark})`,
        instead: 'mend what it complains about',
      })
    }
  }
  return faults
}
