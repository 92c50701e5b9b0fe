// Cuts SQL into its comments and its code. Bodies between dollar quotes are code; the insides of quoted texts are
// blanked, so that a word in a message is not taken for a keyword. Lines stay where they were.

export interface SqlText {
  /** Lower-cased code with comments and quoted texts blanked, same length and lines as the source. */
  readonly code: string
  /** The comment lines before the first statement, without their dashes. */
  readonly header: readonly string[]
}

export function cutSql(source: string): SqlText {
  let code = ''
  let at = 0
  const blank = (end: number): void => {
    code += source.slice(at, end).replaceAll(/[^\n]/g, ' ')
    at = end
  }
  while (at < source.length) {
    if (source.startsWith('--', at)) {
      const end = source.indexOf('\n', at)
      blank(end === -1 ? source.length : end)
    } else if (source.startsWith('/*', at)) {
      const end = source.indexOf('*/', at)
      blank(end === -1 ? source.length : end + 2)
    } else if (source[at] === "'") {
      let end = at + 1
      while (end < source.length && !(source[end] === "'" && source[end + 1] !== "'"))
        end += source[end] === "'" ? 2 : 1
      const stop = Math.min(end + 1, source.length)
      const from = code.length
      blank(stop)
      code = `${code.slice(0, from)}'${code.slice(from + 1, -1)}'`
    } else {
      code += (source[at] ?? '').toLowerCase()
      at += 1
    }
  }
  const header: string[] = []
  for (const line of source.split('\n')) {
    if (!line.startsWith('--')) break
    header.push(line.replace(/^--\s?/, ''))
  }
  return { code, header }
}

export interface Statement {
  readonly text: string
  /** Position of its first character in the code. */
  readonly position: number
}

/** Statements of a body: pieces between semicolons, leading `begin`, `then`, `loop`, `else` and labels stripped. */
export function statementsOf(code: string): readonly Statement[] {
  const found: Statement[] = []
  const pattern = /;|(?:\b(?:begin|then|loop|else)|\$[a-z_]*\$)(?=\s|;|$)/g
  let start = 0
  const take = (end: number): void => {
    const text = code.slice(start, end)
    const lead = text.length - text.trimStart().length
    if (text.trim() !== '') found.push({ text: text.trim(), position: start + lead })
  }
  for (const match of code.matchAll(pattern)) {
    // `case when … then … else … end` stands inside statements and is no border.
    if (match[0] !== ';' && openCase(code.slice(start, match.index))) continue
    take(match.index)
    start = match.index + match[0].length
  }
  take(code.length)
  return found
}

function openCase(text: string): boolean {
  const opened = text.match(/\bcase\b/g)?.length ?? 0
  const closed = text.match(/\bend\b/g)?.length ?? 0
  return opened > closed
}
