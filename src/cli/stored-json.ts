// Rows with stored JSON for programs: what is kept as JSON text stands in the answer as that JSON, not as a text of it.
import { rawJson } from './write-json.ts'

const STORED: ReadonlySet<string> = new Set(['input', 'output', 'error', 'progress'])

export function storedJson(row: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]): [string, unknown] => [
      name,
      STORED.has(name) && typeof value === 'string' ? rawJson(value) : value,
    ]),
  )
}
