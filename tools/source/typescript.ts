// Cuts TypeScript into comments, texts and code without a compiler (TypeScript 7 has no JavaScript API). It decides
// only where texts and comments begin and end; what stands between them is left as it is.

export interface Piece {
  /** `text` is a quoted string, `template` the literal parts of a template, `pattern` a regular expression. */
  readonly kind: 'comment' | 'text' | 'template' | 'pattern' | 'code'
  /** Without its quotes. */
  readonly value: string
  readonly line: number
}

export interface Import {
  readonly specifier: string
  readonly line: number
  /** `import type` and `export type … from`: gone after compiling. */
  readonly typeOnly: boolean
}

/** A slash after one of these begins a regular expression, not a division. */
const BEFORE_PATTERN =
  /(?:^|[([{,;=:!&|?+\-*%<>~^}]|\b(?:return|typeof|case|in|of|void|delete|throw|else|do|await))\s*$/

export function cutTypeScript(source: string): readonly Piece[] {
  const pieces: Piece[] = []
  let code = ''
  let codeLine = 1
  let line = 1
  let at = 0
  // Each entry is the brace depth at which a `${` was opened.
  const templates: number[] = []
  let depth = 0

  const flush = (): void => {
    if (code !== '') pieces.push({ kind: 'code', value: code, line: codeLine })
    code = ''
  }
  const put = (kind: Piece['kind'], value: string, length: number): void => {
    flush()
    pieces.push({ kind, value, line })
    for (let i = at; i < at + length; i += 1) if (source[i] === '\n') line += 1
    at += length
    codeLine = line
  }
  const template = (start: number): void => {
    let end = start
    while (end < source.length) {
      if (source[end] === '\\') end += 2
      else if (source[end] === '`') {
        put('template', source.slice(start, end), end + 1 - at)
        return
      } else if (source.startsWith('${', end)) {
        put('template', source.slice(start, end), end + 2 - at)
        templates.push(depth)
        depth += 1
        return
      } else end += 1
    }
    put('template', source.slice(start), source.length - at)
  }

  while (at < source.length) {
    const char = source[at] ?? ''
    const rest = source.slice(at, at + 2)
    if (rest === '//') {
      const end = source.indexOf('\n', at)
      const stop = end === -1 ? source.length : end
      put('comment', source.slice(at + 2, stop), stop - at)
    } else if (rest === '/*') {
      const end = source.indexOf('*/', at + 2)
      const stop = end === -1 ? source.length : end + 2
      put('comment', source.slice(at + 2, stop - 2), stop - at)
    } else if (char === "'" || char === '"') {
      let end = at + 1
      while (end < source.length && source[end] !== char && source[end] !== '\n') end += source[end] === '\\' ? 2 : 1
      put('text', source.slice(at + 1, end), end + 1 - at)
    } else if (char === '`') {
      template(at + 1)
    } else if (char === '}' && templates.at(-1) === depth - 1) {
      templates.pop()
      depth -= 1
      template(at + 1)
    } else if (char === '/' && BEFORE_PATTERN.test(code === '' ? lastCode(pieces) : code)) {
      const end = patternEnd(source, at + 1)
      put('pattern', source.slice(at + 1, end - 1), end - at)
    } else {
      if (code === '') codeLine = line
      if (char === '{') depth += 1
      if (char === '}') depth -= 1
      if (char === '\n') line += 1
      code += char
      at += 1
    }
  }
  flush()
  return pieces
}

function lastCode(pieces: readonly Piece[]): string {
  const last = pieces.findLast((piece) => piece.kind !== 'comment')
  return last === undefined || last.kind === 'code' ? (last?.value ?? '') : 'text'
}

function patternEnd(source: string, start: number): number {
  let inClass = false
  let end = start
  while (end < source.length && source[end] !== '\n') {
    const char = source[end]
    if (char === '\\') end += 2
    else if (char === '/' && !inClass) return end + 1
    else {
      if (char === '[') inClass = true
      if (char === ']') inClass = false
      end += 1
    }
  }
  return end
}

/** The code with every text emptied and every comment gone; line breaks stay, so lines can be counted. */
export function codeOnly(pieces: readonly Piece[]): string {
  return pieces
    .map((piece) => {
      if (piece.kind === 'code') return piece.value
      const breaks = piece.value.replaceAll(/[^\n]/g, '')
      return piece.kind === 'comment' ? breaks : `''${breaks}`
    })
    .join('')
}

/** Static and dynamic imports and re-exports. */
export function importsOf(source: string): readonly Import[] {
  const pieces = cutTypeScript(source).filter((piece) => piece.kind !== 'comment')
  const found: Import[] = []
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind !== 'text' && piece.kind !== 'template') continue
    const before = pieces[index - 1]
    if (before?.kind !== 'code') continue
    const statement = before.value.slice(Math.max(before.value.lastIndexOf(';'), 0))
    const from = /(?:^|[\n;}])\s*(import|export)\s+(type\s+)?(?:[^;'"`]*?\sfrom\s+)?$/.exec(statement)
    if (from !== null) {
      found.push({ specifier: piece.value, line: piece.line, typeOnly: from[2] !== undefined })
    } else if (/\bimport\s*\(\s*$/.test(before.value)) {
      found.push({
        specifier: piece.value,
        line: piece.line,
        typeOnly: /\b(typeof|:)\s*import\s*\(\s*$/.test(before.value),
      })
    }
  }
  return found
}
