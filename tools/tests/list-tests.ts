// Which compiled tests there are. Node 20 takes folders only, Node 24 globs only, so the files are listed here.
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** All *.test.js below the folder, sorted; only those whose path holds one of `wanted` (as .ts or .js) when any is given. */
export function listTests(folder: string, wanted: readonly string[]): readonly string[] {
  const words = wanted.map((word) => word.replace(/^(\.\/)?(\.build\/)?/, '').replace(/\.(ts|js)$/, ''))
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.test.js'))
    .filter((path) => words.length === 0 || words.some((word) => path.includes(word)))
    .toSorted()
    .map((path) => resolve(join(folder, path)))
}

/** Tests of the SQL core: they run on every PostgreSQL that is served. Long ones run on the newest only. */
export function isCore(path: string): boolean {
  return /^(src\/(db|operations|upkeep)\/|test\/(sql|concurrency)\/)/.test(path.replaceAll('\\', '/'))
}
