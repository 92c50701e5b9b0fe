// The version of this package, read from its package.json.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../db/sql-files.ts'

export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'))
  const known = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return known && typeof manifest.version === 'string' ? manifest.version : 'unknown'
}
