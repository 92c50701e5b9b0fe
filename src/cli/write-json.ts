// Writes a result as JSON in which payloads and stored values stand exactly as they are kept: they are JSON text already, and
// parsing one would round its large numbers.

const RAW = Symbol('raw JSON')

export interface RawJson {
  readonly [RAW]: string
}

/** Marks JSON text to be written as it stands. */
export function rawJson(text: string): RawJson {
  return { [RAW]: text }
}

export function writeJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  if (RAW in value && typeof value[RAW] === 'string') return value[RAW]
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .map(([name, field]) => `${JSON.stringify(name)}:${writeJson(field)}`)
  return `{${fields.join(',')}}`
}
