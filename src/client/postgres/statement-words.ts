// Reads the first words of each statement in a text of SQL, past comments, quoted texts and dollar quotes. Only good enough
// to tell which statements would end or open a transaction; it judges nothing else.

/** Not in the middle of a name: `nice'…'` opens no escapes and `x$a$` no quote. */
const APART = String.raw`(?<![\w$\u0080-\uffff])`
const ESCAPED = String.raw`'(?:[^'\\]|''|\\[^])*'`

/** What may hold a semicolon or a keyword without meaning it. A text with escapes may go on on the next line. */
const SKIPPED = [
  String.raw`--[^\n\r]*`,
  String.raw`\/\*`,
  String.raw`${APART}\$([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$`,
  String.raw`${APART}[eE]${ESCAPED}(?:[^\S\n\r]*[\n\r]\s*${ESCAPED})*`,
  `'(?:[^']|'')*'`,
  `"(?:[^"]|"")*"`,
].join('|')

/** The position after a block comment, which may nest. */
function pastComment(text: string, start: number): number {
  let depth = 1
  let at = start + 2
  while (depth > 0 && at < text.length) {
    if (text.startsWith('/*', at)) {
      depth += 1
      at += 2
    } else if (text.startsWith('*/', at)) {
      depth -= 1
      at += 2
    } else at += 1
  }
  return at
}

/** The text with everything quoted or commented replaced by a space. */
function bare(text: string): string {
  let out = ''
  let at = 0
  const skipped = new RegExp(SKIPPED, 'g')
  for (let match = skipped.exec(text); match !== null; match = skipped.exec(text)) {
    out += `${text.slice(at, match.index)} `
    const [found] = match
    if (found === '/*') at = pastComment(text, match.index)
    else if (found.startsWith('$')) {
      const end = text.indexOf(found, match.index + found.length)
      at = end < 0 ? text.length : end + found.length
    } else at = match.index + found.length
    skipped.lastIndex = at
  }
  return out + text.slice(at)
}

/** The words of each statement, in lower case, three at most. */
export function statementWords(text: string): readonly (readonly string[])[] {
  return bare(text)
    .split(';')
    .map(
      (statement) =>
        statement
          .toLowerCase()
          .match(/[a-z_]+/g)
          ?.slice(0, 3) ?? [],
    )
    .filter((words) => words.length > 0)
}
