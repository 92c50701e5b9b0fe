// docs/reference/limits.md: every bound with the comment that stands above it in src/protocol/limits.ts.
import { LIMITS } from '../../src/protocol/limits.ts'
import { code, page, table } from './page.ts'
import type { Page } from './page.ts'

export function limitsPage(source: string): Page {
  const meanings = new Map<string, string>()
  let comment: string[] = []
  for (const line of source.split('\n')) {
    const text = /^\s*(?:\/\*\*|\*|\/\/)\s?(.*?)\s*(?:\*\/)?$/.exec(line)?.[1]
    const name = /^ {2}(\w+):/.exec(line)?.[1]
    if (name !== undefined) meanings.set(name, comment.join(' '))
    comment = text === undefined ? [] : [...comment, text]
  }
  const rows = Object.entries(LIMITS).map(([name, value]) => [
    code(name),
    value.toLocaleString('en-US'),
    meanings.get(name) ?? '',
  ])
  return page(
    'limits.md',
    'Limits',
    'What lies past one of these is refused with a clear error, never cut or coerced. Names end in their unit; lengths are bytes of UTF-8.',
    table(['limit', 'value', 'meaning'], rows),
  )
}
