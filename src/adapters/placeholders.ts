// Cuts a statement at its `$n` placeholders, for libraries that build statements from pieces or count `?`. What stands in
// quotes, comments, dollar quotes or names is text and stays as it is.

export interface CutStatement {
  /** One more than there are placeholders. */
  readonly texts: readonly string[]
  /** Which parameter stands between texts[i] and texts[i + 1], from 0. */
  readonly order: readonly number[]
}

const TOKEN =
  /--[^\n]*|\/\*[^]*?\*\/|\$([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$[^]*?\$\1\$|[eE]'(?:[^'\\]|''|\\[^])*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|\$(\d+)/g

export function cutStatement(statement: string): CutStatement {
  const texts: string[] = []
  const order: number[] = []
  let from = 0
  for (const match of statement.matchAll(TOKEN)) {
    if (match[2] === undefined) continue
    texts.push(statement.slice(from, match.index))
    order.push(Number(match[2]) - 1)
    from = match.index + match[0].length
  }
  texts.push(statement.slice(from))
  return { texts, order }
}

/** The same statement for a library that counts `?`; its own question marks become `\?`, which such a library sends as one. */
export function questionMarks(
  statement: string,
  params: readonly string[],
): { readonly text: string; readonly values: string[] } {
  const { texts, order } = cutStatement(statement)
  return {
    text: texts.map((text) => text.replaceAll('?', String.raw`\?`)).join('?'),
    values: order.map((at) => paramAt(params, at)),
  }
}

export function paramAt(params: readonly string[], at: number): string {
  const value = params[at]
  if (value === undefined) throw new RangeError(`the statement has no parameter $${at + 1}`)
  return value
}
