// Imports a peer from the folder it was installed into; the repository itself never depends on one.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** `T` is the part of the package that its adapter uses, written there. */
export async function loadPeer<T>(home: string, name: string): Promise<T> {
  const path = createRequire(join(home, 'package.json')).resolve(name)
  // The versions are pinned, and an adapter that asks for what is not there fails at its first call.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return (await import(pathToFileURL(path).href)) as T
}
