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

const OTHERS = `Where no client is named, none could be had when this was written: the Go module proxy refuses every version of
\`github.com/queen-mq/queen/clients/client-go\`, npm knows no package \`queen-mq\`, and no registry serves one for PHP or C++. The same
step over plain HTTP shows what such a client would send.

Each program checks fifteen facts: the order moved once, one shipping event, a redelivered event changes nothing, of two workers with
the same version one wins, the step from the old version is refused with nothing written. Each is also run against a broker that
loses the expected version on the way, and has to fail.

\`\`\`sh
LOCKSTEP_URL=http://localhost:6632 examples/languages/run.sh          # all that can run here
LOCKSTEP_URL=http://localhost:6632 examples/languages/run.sh rust go  # or some
\`\`\`

## What else was tried

Both published packages carry the tests that their authors run against a broker of their own. They were run by hand against this one,
with PostgreSQL 18 behind it:

| package | tests | pass | do not |
| --- | --- | --- | --- |
| Python, \`tests/\` | 116 | 112 | 2, below; 2 skip themselves without a token |
| Rust, \`core\`, \`semantics\`, \`coverage\` | 100 | 97 | 3, below |
| Rust, \`kv_timers\`, \`locks\`, \`streams\` | 62 | 62 | |
| Rust, \`admin\`, \`reads\` | 38 | 36 | 2, below |

Beside them: every call of Python's admin class, its ephemeral queues, locks, streams and traces, the buffered and the framed ways to
push and pop.

## What differs, and why

| what a client may notice | why |
| --- | --- |
| A failed message comes back after \`retryDelay\` (1 s, doubling), not at once. One Python and three Rust tests wait less than that for the dead letter; they pass when the queue says \`retryDelay: 0\`. | A message whose handler fails for a moment must not be dead a moment later. |
| \`traceId\` of a plain push is kept and delivered; a Rust test expects it to be lost. | Nothing that was sent is dropped. |
| Two operations on one timer in one call are taken in their order; a Python test expects 400. | The order of a call says what is meant. |
| The listing of messages has no \`txnHash\` and no \`segment\`: one Rust test. | They are addresses inside another storage. |
| \`binary_push\` answers 415, \`payloadZstd\` 400; both are off unless asked for. Framed pops fall back to JSON by themselves. | JSON is what every client speaks. |
| \`retainedBytes\` of a queue and the rows and bytes of state and timers are null. | Counting them would read every row. |
| A queue's clearing and a message's move to the dead letters by its address are refused by the clients themselves. | Their broker has no such routes either. |
`
