// Turns what PostgreSQL printed into one sentence a person can act on: the known causes by name, else its last own words.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const CAUSES: readonly (readonly [RegExp, (where: string) => string])[] = [
  [/No space left on device/i, (where) => `no space is left on the disk of ${where}.`],
  [/Disk quota exceeded/i, (where) => `the disk quota of ${where} is used up.`],
  [/Read-only file system/i, (where) => `the file system of ${where} is read-only.`],
  [/Permission denied/i, (where) => `permission is denied somewhere under ${where}.`],
]

/** `where` is the folder that a cause about disks is about. */
export function explainLog(text: string, where: string): string {
  const cause = CAUSES.find(([pattern]) => pattern.test(text))
  const words = lastWords(text)
  if (cause !== undefined) return words === '' ? cause[1](where) : `${cause[1](where)} It said: ${words}`
  return words === '' ? 'it printed nothing.' : `it said: ${words}`
}

function lastWords(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const faults = lines.filter((line) => /\b(FATAL|PANIC|ERROR|HINT|error|fatal|could not)\b/.test(line))
  return (faults.length > 0 ? faults : lines).slice(-4).join(' / ').slice(0, 1_000)
}

/** What a log file holds from a position on, at most the last 64 KiB of it. */
export function readLogFrom(file: string, position: number): string {
  const handle = openSync(file, 'r')
  try {
    const { size } = fstatSync(handle)
    const from = Math.max(position, size - 65_536, 0)
    const buffer = Buffer.alloc(Math.max(0, size - from))
    const length = readSync(handle, buffer, 0, buffer.length, from)
    return buffer.toString('utf8', 0, length)
  } finally {
    closeSync(handle)
  }
}
