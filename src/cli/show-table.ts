// Lays rows out in columns for people: left-aligned text, right-aligned numbers, control characters made visible so that no
// stored name can move the cursor or forge a line.

export type Cell = string | number | boolean | null

/** Columns in the order of `titles`; a sentence instead of an empty table. */
export function showTable(titles: readonly string[], rows: readonly (readonly Cell[])[], whenEmpty: string): string {
  if (rows.length === 0) return whenEmpty
  const body = rows.map((row) => row.map(cellText))
  const widths = titles.map((title, index) => Math.max(title.length, ...body.map((row) => lengthOf(row[index] ?? ''))))
  const right = titles.map((_, index) => rows.every((row) => typeof row[index] === 'number' || row[index] === null))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => {
        const room = ' '.repeat(Math.max(0, (widths[index] ?? 0) - lengthOf(cell)))
        return right[index] === true ? room + cell : cell + room
      })
      .join('  ')
      .trimEnd()
  return [line(titles), ...body.map(line)].join('\n')
}

/** In characters, not in UTF-16 units. */
const lengthOf = (text: string): number => Array.from(text).length

function cellText(cell: Cell): string {
  if (cell === null) return '-'
  if (typeof cell === 'number') return String(cell)
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no'
  return visible(cell)
}

/** The text on one line, with control characters written as escapes. */
export function visible(text: string): string {
  // Control characters are just what is looked for.
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g, (character) => {
    return `\\u${character.codePointAt(0)?.toString(16).padStart(4, '0') ?? ''}`
  })
}
