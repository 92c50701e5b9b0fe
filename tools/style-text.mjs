// Colours for people: only on a terminal, never in a file or a pipe, and not where NO_COLOR asks for none.

const CODES = { dim: [2, 22], red: [31, 39], green: [32, 39], bold: [1, 22] }

/** The text, styled if that stream shows styles. */
export function styleText(style, text, stream) {
  if (!stream.isTTY || (process.env.NO_COLOR ?? '') !== '' || process.env.TERM === 'dumb') return text
  const [on, off] = CODES[style]
  return `\u001B[${on}m${text}\u001B[${off}m`
}
