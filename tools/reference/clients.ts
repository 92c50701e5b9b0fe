// docs/reference/clients.md: which clients of others were tried against the broker, in which versions, and what came of it. The
// versions are read from the lock files of examples/languages, so the page cannot name another than what the tests run.
import type { Tree } from '../source/tree.ts'
import { page, table } from './page.ts'
import type { Page } from './page.ts'

const PYTHON = 'examples/languages/python/requirements.txt'
const RUST = 'examples/languages/rust/Cargo.toml'

export function clientsPage(tree: Tree): Page {
  const textOf = (path: string): string => tree.find((file) => file.path === path)?.text ?? ''
  const python = /^queen-mq==(\S+)/m.exec(textOf(PYTHON))?.[1] ?? 'unknown'
  const rust = /^queen-mq = "=([^"]+)"/m.exec(textOf(RUST))?.[1] ?? 'unknown'
  return page(
    'clients.md',
    'Clients of other languages',
    'The published clients of Queen MQ talk to this broker as they are: change the address, nothing else.',
    [clients(python, rust), OTHERS].join('\n\n'),
  )
}

function clients(python: string, rust: string): string {
  return table(
    ['language', 'client', 'where from', 'what the tests run'],
    [
      ['Python', `\`queen-mq\` ${python}`, 'PyPI', '[the workflow step](../../examples/languages/python)'],
      ['Rust', `\`queen-mq\` ${rust}`, 'crates.io', '[the workflow step](../../examples/languages/rust)'],
      ['Go', 'none: plain HTTP', '', '[the workflow step](../../examples/languages/go), standard library only'],
      ['JavaScript', 'none: plain HTTP', '', '[the workflow step](../../examples/languages/javascript), `fetch` only'],
      ['PHP', 'none: plain HTTP', '', '[the workflow step](../../examples/languages/php), curl extension'],
      ['C++', 'none: plain HTTP', '', '[the workflow step](../../examples/languages/cpp), libcurl'],
      ['TypeScript', '`lockstep`', 'this repository', 'the conformance suite, over HTTP and straight to PostgreSQL'],
    ],
  )
}

const OTHERS = `Where no client is named, none could be had when this was written: the module \`github.com/queen-mq/queen/clients/client-go\` is
not served by the Go module proxy (every version is refused), npm knows no package \`queen-mq\`, and PHP and C++ have no registry that
serves one. The same step over plain HTTP shows what such a client would send.

Each program checks fifteen facts: the order moved once, one shipping event, a redelivered event changes nothing, of two workers with
the same version one wins, the step from the old version is refused with nothing written. Each is also run against a broker that
loses the expected version on the way, and has to fail.`
