// Gives the text of a named read of sql/queries/ by its name, read from disk once. It runs nothing.
import { sqlText } from './sql-files.ts'

const texts = new Map<string, string>()

export function namedRead(name: string): string {
  let text = texts.get(name)
  if (text === undefined) {
    text = sqlText(`queries/${name}.sql`)
    texts.set(name, text)
  }
  return text
}
