// The way of the verbs about runs to PostgreSQL, used by the broker and by the client in process alike: submissions joined
// with their like, waiters served by one poller, workers rung after a commit. It adds no meaning to a verb.
import type { Acting, Database } from '../db/pool.ts'
import { handBackNodes } from '../operations/hand-back-nodes.ts'
import { retryRun } from '../operations/retry-run.ts'
import { runNodes } from '../operations/run-nodes.ts'
import { showRun } from '../operations/show-run.ts'
import { signalRun } from '../operations/signal-run.ts'
import { submit } from '../operations/submit.ts'
import { LIMITS } from '../protocol/limits.ts'
import type { MissingReason, NodeLease, OutgoingRun, ShownNode, ShownRun, SubmittedRun } from '../protocol/run.ts'
import { RANK, type Admission } from './admission.ts'
import { cancelTree } from './cancel-tree.ts'
import { createJoiner } from './join.ts'
import { createRunWatch, type RunWatch } from './run-watch.ts'

/** A hint to other processes that work of a workflow or action may be due; no queue's name begins so. */
const WORK = '\u0001work:'
const ENDED = '\u0001ended:'
/** So many runs at once are a call of their own: they gain nothing from others', and would make those wait. */
const ALONE = 100

export interface RunTraffic {
  submit(runs: readonly OutgoingRun[]): Promise<readonly SubmittedRun[]>
  show(runId: string, xid: string | null): Promise<ShownRun | { readonly missing: MissingReason }>
  nodes(runId: string): Promise<readonly ShownNode[]>
  ended(runId: string, timeoutMs: number, signal: AbortSignal | null): Promise<boolean>
  /** `who`: for the audit. */
  cancel(runId: string, reason: string | null, who?: Acting): Promise<string>
  retry(runId: string): Promise<string>
  signal(runId: string, name: string, payload: string): Promise<string>
  /** Something may be due for this workflow or action; null: for any. Tells workers here and elsewhere. */
  wake(name: string | null): void
  /** Gives claims back that could not be delivered; a fault lets them lapse. */
  handBack(nodes: readonly NodeLease[]): void
  /** Waiters in other processes look for this run now. */
  tellEnded(runId: string): void
  /** Called when work may be due. */
  onWork(listener: (name: string | null) => void): () => void
  /** A hint that another process sent: true when it was about runs. */
  heard(hint: string): boolean
  /** Hints may have been missed. */
  heardAll(): void
  /** Resolves when what is in flight has ended; waiters are answered. */
  drain(): Promise<void>
  readonly watch: RunWatch
}

export interface RunTrafficOptions {
  readonly database: Database
  readonly admission: Admission
  readonly tell: (hint: string) => void
}

export function createRunTraffic({ database, admission, tell }: RunTrafficOptions): RunTraffic {
  const listeners = new Set<(name: string | null) => void>()
  const watch = createRunWatch(database.reader, (work) => admission.enter(RANK.read, work))
  const write = <T>(work: () => Promise<T>): Promise<T> => admission.enter(RANK.write, work)
  const read = <T>(work: () => Promise<T>): Promise<T> => admission.enter(RANK.read, work)

  const submits = createJoiner<readonly OutgoingRun[], readonly SubmittedRun[]>({
    calls: 2,
    size: 500,
    weight: 4 * 1024 * 1024,
    weightOf: (runs) => runs.reduce((sum, run) => sum + run.input.length + (run.shape?.length ?? 0) + 512, 0),
    line: LIMITS.waitingCalls * 65_536,
    // Two submissions of one key in one call: the second would not see whose the key is.
    keysOf: (runs) => runs.flatMap((run) => (run.key === null ? [] : [`${run.workflow}\0${run.key}`])),
    async run(batches) {
      const submitted = await write(() => submit(database, batches.flat()))
      let at = 0
      return batches.map((batch) => submitted.slice(at, (at += batch.length)))
    },
  })

  let alone = 0
  const whenNone: (() => void)[] = []

  async function submitAlone(runs: readonly OutgoingRun[]): Promise<readonly SubmittedRun[]> {
    alone += 1
    try {
      return await write(() => submit(database, runs))
    } finally {
      alone -= 1
      if (alone === 0) for (const resolve of whenNone.splice(0)) resolve()
    }
  }

  function ring(name: string | null): void {
    for (const listener of listeners) listener(name)
  }

  function wake(name: string | null): void {
    ring(name)
    tell(`${WORK}${name ?? ''}`)
  }

  return {
    async submit(runs) {
      if (runs.length === 0) return []
      const submitted = await (runs.length < ALONE ? submits.join(runs) : submitAlone(runs))
      for (const name of new Set(runs.map((run) => run.workflow))) wake(name)
      return submitted
    },
    show: (runId, xid) => read(() => showRun(database.reader, runId, xid)),
    nodes: (runId) => read(() => runNodes(database.reader, runId)),
    ended: (runId, timeoutMs, signal) => watch.wait(runId, timeoutMs, signal),
    async cancel(runId, reason, who) {
      const gone: string[] = []
      const db = who === undefined ? database : database.acting(who)
      const state = await write(() => cancelTree(db, runId, reason, (id) => gone.push(id)))
      watch.ring(gone)
      for (const id of gone.slice(0, 100)) tell(`${ENDED}${id}`)
      return state
    },
    async retry(runId) {
      const state = await write(() => retryRun(database, runId))
      if (state === 'running') wake(null)
      return state
    },
    async signal(runId, name, payload) {
      const state = await write(() => signalRun(database, runId, name, payload))
      if (state === 'ok') wake(null)
      return state
    },
    wake,
    handBack(nodes) {
      if (nodes.length === 0) return
      write(() => handBackNodes(database, nodes)).then(
        () => wake(null),
        () => {},
      )
    },
    tellEnded: (runId) => tell(`${ENDED}${runId}`),
    onWork(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    heard(hint) {
      if (hint.startsWith(ENDED)) watch.ring([hint.slice(ENDED.length)])
      else if (hint.startsWith(WORK)) ring(hint === WORK ? null : hint.slice(WORK.length))
      else return false
      return true
    },
    heardAll() {
      watch.ringAll()
      ring(null)
    },
    async drain() {
      watch.close()
      await submits.idle()
      if (alone > 0) await new Promise<void>((resolve) => whenNone.push(resolve))
    },
    watch,
  }
}
