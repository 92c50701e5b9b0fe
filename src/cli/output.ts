// Where a command's words go. Results go to the standard output, as text for people or, with --json, as JSON for programs;
// progress and errors go to the error output, so that a pipe only ever carries results. Colours only on a terminal.

import { writeJson } from './write-json.ts'

export type Style = 'dim' | 'bold' | 'red' | 'green' | 'yellow'

export interface Stream {
  readonly isTTY?: boolean
  write(text: string): unknown
}

export interface Output {
  readonly json: boolean
  /** One result: its JSON, or the text for people. */
  result(value: unknown, text: () => string): void
  /** A line of progress. */
  progress(line: string): void
  /** The text in that style where a person reads it. */
  styled(style: Style, text: string): string
  error(text: string): void
}

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  dim: [2, 22],
  bold: [1, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
}

export function createOutput(
  json: boolean,
  out: Stream = process.stdout,
  err: Stream = process.stderr,
  env: NodeJS.ProcessEnv = process.env,
): Output {
  const plain = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb'
  const style = (stream: Stream, name: Style, text: string): string => {
    if (plain || stream.isTTY !== true) return text
    const [on, off] = CODES[name]
    return `\u001B[${on}m${text}\u001B[${off}m`
  }
  return {
    json,
    result: (value, text) => void out.write(`${json ? writeJson(value) : text()}\n`),
    progress: (line) => {
      if (json) return
      err.write(`${style(err, 'dim', `· ${line}`)}\n`)
    },
    styled: (name, text) => (json ? text : style(out, name, text)),
    error: (text) => void err.write(`${json ? text : style(err, 'red', text)}\n`),
  }
}
