// Reads the repository's own text files into memory once, so that every check is a function over data and can be
// tested with planted files. Never follows links and never reads what is installed or built, but for the declarations
// in dist/, of which the API report is made.
import { lstatSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string
  readonly text: string
}

export type Tree = readonly SourceFile[]

const SKIPPED = new Set(['.git', 'node_modules', '.build', '.lockstep', 'coverage'])
const TEXT = /\.(ts|tsx|mts|mjs|js|sql|json|md|txt|html|css|sh|yml|yaml|toml)$|(^|\/)(\.[a-z]+|run|LICENSE|lockstep)$/

/** Every text file under `root`, sorted by path. */
export function readTree(root: string): Tree {
  const files: SourceFile[] = []
  walk(root, '', files)
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

function walk(root: string, folder: string, files: SourceFile[]): void {
  for (const name of readdirSync(join(root, folder))) {
    const path = folder === '' ? name : `${folder}/${name}`
    const stat = lstatSync(join(root, path))
    if (SKIPPED.has(name)) continue
    if (stat.isDirectory()) {
      walk(root, path, files)
    } else if (stat.isFile() && TEXT.test(path) && (!path.startsWith('dist/') || path.endsWith('.d.ts'))) {
      files.push({ path, text: readFileSync(join(root, path), 'utf8') })
    }
  }
}

/** One-based line of a position in a text. */
export function lineAt(text: string, position: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < position; at = text.indexOf('\n', at + 1)) line += 1
  return line
}
