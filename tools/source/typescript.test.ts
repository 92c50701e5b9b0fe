// The cutter must not be misled by quotes in comments, slashes that divide, or braces inside templates.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOnly, cutTypeScript, importsOf } from './typescript.ts'

test('texts, templates, patterns and comments are told from code', () => {
  const source =
    "const a = 'x' // it's\nconst b = `one ${c + `two ${d}`} three`\nconst e = f / 2 / g\nconst h = /[/'\"]/.test(a)\n"
  const pieces = cutTypeScript(source)
  const of = (kind: string): string[] => pieces.filter((piece) => piece.kind === kind).map((piece) => piece.value)
  assert.deepEqual(of('text'), ['x'])
  assert.deepEqual(of('comment'), [" it's"])
  assert.deepEqual(of('template'), ['one ', 'two ', '', ' three'])
  assert.deepEqual(of('pattern'), ['[/\'"]'])
  assert.equal(codeOnly(pieces).split('\n').length, source.split('\n').length)
})

test('lines are counted through templates and comments', () => {
  const pieces = cutTypeScript("/* one\n two */\nconst a = `x\ny`\nconst b = 'z'\n")
  assert.equal(pieces.find((piece) => piece.value === 'z')?.line, 5)
})

test('static, type-only, dynamic and re-exporting imports are found with their lines', () => {
  const source = [
    "import { a } from './a.ts'",
    "import type { B } from 'b'",
    "export * from './c.ts'",
    "import 'side'",
    "const d = await import('./d.ts')",
    "const text = 'from nowhere'",
    "import {\n  e,\n} from './e.ts'",
  ].join('\n')
  assert.deepEqual(importsOf(source), [
    { specifier: './a.ts', line: 1, typeOnly: false },
    { specifier: 'b', line: 2, typeOnly: true },
    { specifier: './c.ts', line: 3, typeOnly: false },
    { specifier: 'side', line: 4, typeOnly: false },
    { specifier: './d.ts', line: 5, typeOnly: false },
    { specifier: './e.ts', line: 9, typeOnly: false },
  ])
})
