// The repository builds on any machine: no path of one, no registry's host, no carriage return.
import type { Fault } from '../source/fault.ts'
import type { Tree } from '../source/tree.ts'

// The names are cut in two here, so that this file does not find itself.
const PATHS = new RegExp(
  ['/w|ork/', '/fa|rm/', '/tmp/bash|_jobs', String.raw`/ro|ot/\.`, '/ho|me/[a-z]']
    .map((path) => path.replace('|', ''))
    .join('|'),
)
const HOSTS = new RegExp(
  [
    'registry|.npmjs.org',
    'files|.pythonhosted.org',
    'static|.crates.io',
    'index|.crates.io',
    'proxy|.golang.org',
    'deb|.debian.org',
    'repo1?|.maven',
  ]
    .map((host) => host.replace('|', '').replaceAll('.', String.raw`\.`))
    .join('|'),
)

export function checkPortable(tree: Tree): readonly Fault[] {
  const faults: Fault[] = []
  for (const { path, text } of tree) {
    if (path.startsWith('dist/')) continue
    const returns = text.indexOf('\r')
    for (const [index, line] of text.split('\n').entries()) {
      const at = { path, line: index + 1 }
      const found = PATHS.exec(line)?.[0]
      if (found !== undefined)
        faults.push({
          ...at,
          what: `names a path of one machine (${found})`,
          instead: 'derive it from import.meta.url, the working folder or os.tmpdir()',
        })
      const host = HOSTS.exec(line)?.[0]
      if (host !== undefined)
        faults.push({
          ...at,
          what: `names a package registry (${host})`,
          instead: "leave the registry to the user's own settings; in the lock file omit `resolved`",
        })
    }
    if (returns !== -1)
      faults.push({
        path,
        line: text.slice(0, returns).split('\n').length,
        what: 'has a carriage return',
        instead: 'save with LF line ends',
      })
  }
  return faults
}
