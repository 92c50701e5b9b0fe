// The version of this package, as its package.json says.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../db/sql-files.ts'

export function packageVersion(): string {
  const content: unknown = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'))
  const version = typeof content === 'object' && content !== null ? Reflect.get(content, 'version') : null
  return typeof version === 'string' ? version : '0.0.0'
}
