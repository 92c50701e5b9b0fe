// What is imported is declared: src/ from dependencies or peers, everything else from devDependencies too. An import
// that only works because another package happens to bring it along breaks at the user's.
import { isBuiltin } from 'node:module'
import type { Fault } from '../source/fault.ts'
import type { Tree } from '../source/tree.ts'
import { importsOf } from '../source/typescript.ts'

type Names = ReadonlySet<string>

export function checkDependencies(tree: Tree): readonly Fault[] {
  const manifest = tree.find((file) => file.path === 'package.json')
  if (manifest === undefined) return []
  const parsed: unknown = JSON.parse(manifest.text)
  const run = new Set([
    ...names(parsed, 'dependencies'),
    ...names(parsed, 'peerDependencies'),
    ...names(parsed, 'optionalDependencies'),
  ])
  const dev = names(parsed, 'devDependencies')
  const used = new Set<string>()
  const faults: Fault[] = []
  for (const file of tree) {
    if (!/^(src|tools|test|bench|examples)\/.*\.(ts|mjs)$/.test(file.path)) continue
    const shipped = file.path.startsWith('src/') && !file.path.endsWith('.test.ts')
    for (const found of importsOf(file.text)) {
      if (/^[.#]/.test(found.specifier) || isBuiltin(found.specifier)) continue
      const name = found.specifier
        .split('/')
        .slice(0, found.specifier.startsWith('@') ? 2 : 1)
        .join('/')
      if (name === 'lockstep') continue
      used.add(name)
      if (run.has(name) || (!shipped && dev.has(name))) continue
      // Types of a package that is declared at run time may come from its @types.
      faults.push({
        path: file.path,
        line: found.line,
        what: `imports '${name}', which package.json does not declare${shipped ? ' for run time' : ''}`,
        instead: shipped
          ? 'declare it under dependencies or peerDependencies, or do without'
          : 'declare it under devDependencies',
      })
    }
  }
  for (const name of names(parsed, 'dependencies')) {
    if (!used.has(name)) {
      faults.push({
        path: 'package.json',
        line: lineOf(manifest.text, name),
        what: `declares '${name}', which nothing imports`,
        instead: 'remove it',
      })
    }
  }
  return faults
}

function names(manifest: unknown, field: string): Names {
  if (typeof manifest !== 'object' || manifest === null) return new Set()
  const value: unknown = Reflect.get(manifest, field)
  return new Set(typeof value === 'object' && value !== null ? Object.keys(value) : [])
}

function lineOf(text: string, name: string): number {
  return text.split('\n').findIndex((line) => line.includes(`"${name}"`)) + 1
}
