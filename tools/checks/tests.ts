// No test is skipped, exclusive or to do: what cannot run is absent by name in the runner, and fails where all is required.
import type { Fault } from '../source/fault.ts'
import type { Tree } from '../source/tree.ts'
import { lineAt } from '../source/tree.ts'
import { codeOnly, cutTypeScript } from '../source/typescript.ts'

const MARKS =
  /\b(?:test|it|describe|suite|t)\s*\.\s*(skip|only|todo)\b|[{,]\s*(skip|only|todo)\s*:(?!\s*(?:false|boolean|undefined)\b)/g

export function checkTests(tree: Tree): readonly Fault[] {
  const faults: Fault[] = []
  for (const file of tree) {
    if (!/\.test\.ts$|^test\//.test(file.path) || !file.path.endsWith('.ts')) continue
    const code = codeOnly(cutTypeScript(file.text))
    for (const match of code.matchAll(MARKS)) {
      faults.push({
        path: file.path,
        line: lineAt(code, match.index),
        what: `a test marked '${match[1] ?? match[2] ?? ''}'`,
        instead: 'make it run and be able to fail, or delete it',
      })
    }
    if (file.path.endsWith('.test.ts') && !/\b(assert|expect|rejects|fc)\b/.test(code)) {
      faults.push({
        path: file.path,
        line: 1,
        what: 'a test file without a single assertion',
        instead: 'assert the behaviour its name promises',
      })
    }
  }
  return faults
}
