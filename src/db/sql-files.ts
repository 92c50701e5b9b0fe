// Finds the package's sql/ folder from wherever the compiled code lies (dist/, .build/src/, a bundle beside the package),
// by walking up to the package.json that is ours, and reads it. It never looks at the working directory.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface SqlFile {
  /** Path below sql/, with slashes: `functions/queue/push.sql`. */
  readonly path: string
  readonly text: string
}

let root: string | null = null

/** The folder of our package.json. */
export function packageRoot(): string {
  root ??= findRoot(dirname(fileURLToPath(import.meta.url)))
  return root
}

/** One file of sql/, by its path below it. */
export function sqlText(path: string): string {
  return readFileSync(join(packageRoot(), 'sql', path), 'utf8')
}

/** All .sql files below sql/<folder>, sorted by path in code-unit order, the same on every machine. */
export function sqlFiles(folder: string): readonly SqlFile[] {
  const base = join(packageRoot(), 'sql', folder)
  return readdirSync(base, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.sql'))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((path) => ({ path: `${folder}/${path}`, text: readFileSync(join(base, path), 'utf8') }))
}

function findRoot(from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const file = join(folder, 'package.json')
    if (existsSync(file)) {
      const content: unknown = JSON.parse(readFileSync(file, 'utf8'))
      if (typeof content === 'object' && content !== null && 'name' in content && content.name === 'lockstep')
        return folder
    }
    if (dirname(folder) === folder) throw new Error(`no package.json named lockstep above ${from}`)
  }
}
