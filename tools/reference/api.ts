// docs/reference/api/: the declarations behind each entry of the package, as the compiler emits them. A change of a public
// name shows in review as a change of these files.
import { dirname, join } from 'node:path'
import type { Tree } from '../source/tree.ts'
import { page } from './page.ts'
import type { Page } from './page.ts'

/** Entry of package.json `exports` -> its declarations. */
const ENTRIES: Readonly<Record<string, string>> = {
  lockstep: 'dist/index.d.ts',
  'lockstep (browser)': 'dist/browser.d.ts',
  'lockstep/http': 'dist/http.d.ts',
  'lockstep/streams': 'dist/streams.d.ts',
  'lockstep/broker': 'dist/broker/index.d.ts',
  'lockstep/testing': 'dist/testing/index.d.ts',
  'lockstep/drizzle': 'dist/adapters/drizzle.d.ts',
  'lockstep/kysely': 'dist/adapters/kysely.d.ts',
  'lockstep/prisma': 'dist/adapters/prisma.d.ts',
  'lockstep/knex': 'dist/adapters/knex.d.ts',
  'lockstep/typeorm': 'dist/adapters/typeorm.d.ts',
  'lockstep/mikro-orm': 'dist/adapters/mikro-orm.d.ts',
  'lockstep/postgres-js': 'dist/adapters/postgres-js.d.ts',
}

export function apiPages(tree: Tree): readonly Page[] {
  // What the main entry shows is not shown again under the others.
  const shown = new Set<string>()
  return Object.entries(ENTRIES).flatMap(([name, entry]) => {
    const files = closure(tree, entry).filter(({ path }) => !shown.has(path))
    for (const { path } of files) shown.add(path)
    if (files.length === 0) return []
    const body = files
      .map(({ path, text }) => `## ${path.slice('dist/'.length)}\n\n\`\`\`ts\n${text}\n\`\`\``)
      .join('\n\n')
    const file = name.replace('lockstep/', '').replace('lockstep (browser)', 'browser').replace('lockstep', 'index')
    const intro =
      'The entry and every module it re-exports from that no page before shows ([lockstep](index.md) is the first).'
    return [page(`api/${file}.md`, name, intro, body)]
  })
}

/** The entry, then what it re-exports, depth first, each once. */
function closure(tree: Tree, entry: string): { readonly path: string; readonly text: string }[] {
  const found: { path: string; text: string }[] = []
  const visit = (path: string): void => {
    const file = tree.find((one) => one.path === path)
    if (file === undefined || found.some((one) => one.path === path)) return
    found.push({ path, text: file.text.replace(/\n?\/\/# sourceMappingURL=.*\n?$/, '').trim() })
    for (const match of file.text.matchAll(/^export (?:type )?(?:\*|\{[^}]*\}) from ['"](\.[^'"]+)['"]/gm)) {
      visit(join(dirname(path), (match[1] ?? '').replace(/\.[jt]s$/, '.d.ts')))
    }
  }
  visit(entry)
  return found
}
