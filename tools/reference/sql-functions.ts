// docs/reference/sql.md: every public function with its signature and what its header promises, room by room.
import { cutSql } from '../source/sql.ts'
import type { Tree } from '../source/tree.ts'
import { page } from './page.ts'
import type { Page } from './page.ts'

const HEAD = /create\s+(?:or\s+replace\s+)?function\s+(lockstep\.[a-z0-9_]+\s*\([\s\S]*?)\s*\n?\s*language\b/gi

export function sqlPage(tree: Tree): Page {
  const rooms = new Map<string, string[]>()
  for (const file of tree) {
    const [, room, verb] = /^sql\/functions\/([^/]+)\/([^/]+)\.sql$/.exec(file.path) ?? []
    if (room === undefined || verb === undefined || verb.startsWith('_')) continue
    rooms.set(room, [...(rooms.get(room) ?? []), section(verb, file.text)])
  }
  const body = [...rooms].map(([room, sections]) => `## ${room}\n\n${sections.join('\n\n')}`).join('\n\n')
  return page(
    'sql.md',
    'SQL functions',
    'Functions of the schema `lockstep` that any language may call in its own transaction. A `…_joined` function takes arrays and does many at once: the broker uses these. Names that begin with `_` are private. Faults are raised with a SQLSTATE of class `LS`, their code in `detail`.',
    body,
  )
}

function section(verb: string, text: string): string {
  const signatures = [...text.matchAll(HEAD)].map((match) => (match[1] ?? '').trim())
  const said = entries(cutSql(text).header)
  const purpose = said.get('purpose') ?? ''
  const fields = [...said].flatMap(([name, value]) => (name === 'purpose' ? [] : [`- ${name}: ${value}`]))
  return `### ${verb}\n\n${purpose}\n\n\`\`\`sql\n${signatures.join('\n\n')}\n\`\`\`\n\n${fields.join('\n')}`
}

/** What a header says under each of its names; a line that is indented goes on with the one above it. */
function entries(header: readonly string[]): ReadonlyMap<string, string> {
  const said = new Map<string, string>()
  let last: string | null = null
  for (const line of header) {
    const [, name, value] = /^(purpose|locks in order|raises|idempotent how|index used): (.*)$/.exec(line) ?? []
    if (name !== undefined && value !== undefined) {
      said.set(name, value)
      last = name
    } else if (last !== null && /^\s/.test(line)) said.set(last, `${said.get(last) ?? ''} ${line.trim()}`)
    else last = null
  }
  return said
}
