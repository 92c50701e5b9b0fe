// Where libfaketime lies, with which a process sees another time than its machine. It is a library of the system (Debian's
// package is called faketime); here it is only looked for.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The library for programs with threads, or null. */
export function findFaketime(): string | null {
  const roots = ['/usr/lib', '/usr/local/lib', '/opt/homebrew/lib']
  for (const root of roots) {
    if (!existsSync(root)) continue
    // Debian keeps it below the name of the machine's kind.
    const folders = [root, ...readdirSync(root).map((name) => join(root, name))]
    const found = folders
      .map((folder) => join(folder, 'faketime', 'libfaketimeMT.so.1'))
      .find((file) => existsSync(file))
    if (found !== undefined) return found
  }
  return null
}
