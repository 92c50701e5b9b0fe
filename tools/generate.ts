// Writes the generated references under docs/reference/. Run after a build: npm run generate.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pagesOf } from './reference/pages.ts'
import { readTree } from './source/tree.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
for (const page of pagesOf(readTree(root))) {
  mkdirSync(dirname(join(root, page.path)), { recursive: true })
  writeFileSync(join(root, page.path), page.text)
  console.log(page.path)
}
