// Reads JSON that a person typed or piped in. It is checked and then kept as the text it is; a text without quotes, the
// usual slip, is answered with the quoted form.

import { UsageError } from './usage-error.ts'

/** The text, trimmed; `what` names it in the error. */
export function readJson(text: string, what: string): string {
  const json = text.trim()
  try {
    JSON.parse(json)
    return json
  } catch (error) {
    if (json === '') throw new UsageError(`The ${what} is empty; it must be a JSON value.`, `'{"hello":"world"}'`)
    const reason = error instanceof Error ? error.message : 'unknown'
    throw new UsageError(
      `The ${what} is not JSON (${reason}).`,
      /^[\p{L}\p{N} ._-]+$/u.test(json) ? `'${JSON.stringify(json)}'    # a text needs its quotes` : '',
    )
  }
}

/** The argument, or the whole of the standard input when it is `-` or left out of a pipe. */
export async function argumentOrInput(argument: string, what: string): Promise<string> {
  if (argument !== '' && argument !== '-') return argument
  if (argument === '' && process.stdin.isTTY) {
    throw new UsageError(`The ${what} is missing: give it as an argument, or pipe it in.`)
  }
  process.stdin.setEncoding('utf8')
  let text = ''
  for await (const chunk of process.stdin) text += String(chunk)
  return text
}
