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
  root ??= ownRoot()
  if (root === null) throw new Error('the package lockstep is not beside this code: it was bundled without its files')
  return root
}

/** False in a bundle that left the package's files behind: it serves a database, and cannot migrate one or compare it. */
export function packageFound(): boolean {
  root ??= ownRoot()
  return root !== null
}

function ownRoot(): string | null {
  // A bundle in CommonJS has no URL of its own.
  const { url } = import.meta as { readonly url?: string }
  return url === undefined ? null : findRoot(dirname(fileURLToPath(url)))
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

function findRoot(from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const file = join(folder, 'package.json')
    if (existsSync(file)) {
      const content: unknown = JSON.parse(readFileSync(file, 'utf8'))
      if (typeof content === 'object' && content !== null && 'name' in content && content.name === 'lockstep')
        return folder
    }
    if (dirname(folder) === folder) return null
  }
}
