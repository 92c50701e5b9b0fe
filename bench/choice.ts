// What was asked for on the bench's command line, read or refused with what would be right.

class Refusal extends Error {}

/** Whether an error says what was wrong with the command line; of our own reading or of node:util's. */
export function isRefusal(error: unknown): error is Error {
  if (error instanceof Refusal) return true
  return error instanceof Error && String(Reflect.get(error, 'code')).startsWith('ERR_PARSE_ARGS')
}

/** Those of the names, in their order; all of them when nothing was named. */
export function chosen<T extends { readonly name: string }>(
  all: readonly T[],
  only: string | undefined,
  between = ',',
): readonly T[] {
  if (only === undefined) return all
  return only.split(between).map((name) => {
    const found = all.find((one) => one.name === name)
    if (found === undefined) throw new Refusal(`nothing is called '${name}'; --list names what there is`)
    return found
  })
}

export function secondsOf(text: string): number {
  const seconds = Number(text)
  if (!(seconds >= 1 && seconds <= 600)) throw new Refusal(`--seconds must be a number from 1 to 600; got '${text}'`)
  return seconds
}
