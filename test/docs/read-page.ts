// Cuts a page of the documentation into its code blocks. A page is one program: its `ts` blocks in order are one module,
// its `sql` blocks run in order beside it, and a comment `// prints: …` says what the line above it writes.
export interface Block {
  readonly language: string
  readonly text: string
  /** Line of its first line in the page. */
  readonly line: number
}

export function blocksOf(page: string): readonly Block[] {
  const blocks: Block[] = []
  let open: { language: string; line: number; lines: string[] } | null = null
  for (const [index, line] of page.split('\n').entries()) {
    const fence = /^```(\S*)/.exec(line)
    if (fence === null) open?.lines.push(line)
    else if (open === null) open = { language: fence[1] ?? '', line: index + 2, lines: [] }
    else {
      blocks.push({ language: open.language, line: open.line, text: `${open.lines.join('\n')}\n` })
      open = null
    }
  }
  return blocks
}

export function programOf(blocks: readonly Block[]): string {
  return blocks
    .filter((block) => block.language === 'ts')
    .map((block) => block.text)
    .join('\n')
}

/** What the program has to print, line by line. */
export function promisedLines(program: string): readonly string[] {
  return [...program.matchAll(/\/\/ prints: (.*)/g)].map((match) => (match[1] ?? '').trim())
}

/** Targets of links inside the repository, without their anchors. */
export function linksOf(page: string): readonly string[] {
  return [...page.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => (match[1] ?? '').replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
}

/** Paths of this repository named in backticks. */
export function pathsOf(page: string): readonly string[] {
  return [...page.matchAll(/`((?:src|sql|test|tools|bench|docs|examples)\/[A-Za-z0-9_./-]*)`/g)].map(
    (match) => match[1] ?? '',
  )
}
