// Hands the files to node:test, round after round, each against its own server, and joins the rounds into one stream of
// events with one summary at the end. It decides nothing about a test; it only counts and remembers what failed.
import { run } from 'node:test'
import { createRunningTests } from './running-tests.ts'

export interface Round {
  readonly label: string
  readonly files: readonly string[]
  /** Starts the round's server; called when the round begins. */
  readonly url: () => Promise<string>
}

export interface Verdict {
  /** Files with a failed test. */
  readonly failed: readonly string[]
  /** What failed tests kept. */
  readonly kept: readonly string[]
}

const FILE_TIMEOUT_MS = 300_000
const LONG_FILE_TIMEOUT_MS = 3_600_000
const SUMMARY = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) ([\d.]+)$/

interface Event {
  readonly type: string
  readonly data: {
    readonly name?: string
    readonly message?: string
    readonly file?: string | undefined
    readonly nesting?: number
    readonly details?: { readonly error?: unknown }
  }
}

export async function* runRounds(
  rounds: readonly Round[],
  long: boolean,
  done: (verdict: Verdict) => void,
  fileTimeoutMs: number = long ? LONG_FILE_TIMEOUT_MS : FILE_TIMEOUT_MS,
): AsyncGenerator<Event> {
  const failed = new Set<string>()
  const kept = new Set<string>()
  const sums = new Map<string, number>()
  for (const round of rounds) {
    const started = performance.now()
    process.env['LOCKSTEP_TEST_URL'] = await round.url()
    const stream = run({
      files: [...round.files],
      concurrency: 2,
      timeout: fileTimeoutMs,
    })
    const running = createRunningTests(round.files)
    for await (const event of stream) {
      const { type, data }: Event = event
      const [, name, amount] = (type === 'test:diagnostic' && SUMMARY.exec(data.message ?? '')) || []
      if (type === 'test:summary') continue
      if (name !== undefined) {
        sums.set(name, (sums.get(name) ?? 0) + Number(amount))
        continue
      }
      if (type === 'test:fail') failed.add(data.file ?? 'unknown')
      if (type === 'test:diagnostic' && data.message?.startsWith('kept database:') === true) kept.add(data.message)
      yield { type, data }
      const hung = running.follow(type, data)
      if (hung !== null) yield diagnostic(hung)
    }
    const seconds = ((performance.now() - started) / 1000).toFixed(0)
    yield diagnostic(`round ${round.label}: ${round.files.length} files in ${seconds} s`)
  }
  for (const [name, amount] of sums) yield diagnostic(`${name} ${amount}`)
  done({ failed: [...failed], kept: [...kept] })
}

function diagnostic(message: string): Event {
  return { type: 'test:diagnostic', data: { message, nesting: 0 } }
}
