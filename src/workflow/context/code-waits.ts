// `ctx.sleep`, `ctx.waitForSignal`, `ctx.patch` and `ctx.all`: the parts of a workflow's code that wait, without a worker, and
// those that look back. Ends of sleeps and timeouts are the database's; no instant crosses into this process.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { takeSignal } from '../../operations/take-signal.ts'
import { root, text } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { checkValue, issuesText } from '../../protocol/standard-schema.ts'
import type { KeyOptions } from '../define/contexts.ts'
import { PermanentError } from '../define/failures.ts'
import { milliseconds, type Duration } from '../define/policy.ts'
import { demandKind, leaseLost, type CodeParts } from './code-parts.ts'

const patchName = text({ min: 1, max: LIMITS.nameBytes - 'patch:'.length, longCode: 'name_too_long' })

export async function codeSleep(
  parts: CodeParts,
  given: string,
  duration: Duration,
  options: KeyOptions,
): Promise<void> {
  const ms = milliseconds(duration, 'duration')
  const { recorded: name, end } = parts.names.enter(given, options.key)
  try {
    const recorded = parts.history.get(name)
    if (recorded !== undefined) demandKind(name, recorded, ['sleeping'], 'a sleep')
    if (recorded?.due !== true) await parts.waits.until({ kind: 'sleep', name, ms })
  } finally {
    end()
  }
}

export interface SignalOptions extends KeyOptions {
  readonly timeout?: Duration | undefined
  readonly schema?: StandardSchemaV1 | undefined
}

async function received(name: string, payload: string | null, schema: StandardSchemaV1 | undefined): Promise<unknown> {
  const value: unknown = payload === null ? null : JSON.parse(payload)
  if (schema === undefined) return value
  const checked = await checkValue(schema, value)
  if (checked.valid) return checked.value
  throw new PermanentError(`the signal '${name}' is not what the code takes: ${issuesText(checked.issues)}`)
}

export async function codeSignal(parts: CodeParts, given: string, options: SignalOptions): Promise<unknown> {
  const timeoutMs = options.timeout === undefined ? null : milliseconds(options.timeout, 'timeout')
  const { recorded: name, end } = parts.names.enter(given, options.key)
  const { node } = parts.held
  try {
    const recorded = parts.history.get(name)
    if (recorded !== undefined) demandKind(name, recorded, ['heard', 'waiting'], 'a signal')
    if (recorded?.state === 'heard')
      return recorded.output === null ? null : await received(given, recorded.output, options.schema)
    const taken = await parts.waits.during(async () =>
      takeSignal(parts.worker.database, node.runId, node.leaseId, name, given),
    )
    if (taken.verdict === 'lease_lost') throw leaseLost()
    if (taken.verdict === 'timeout') return null
    if (taken.verdict === 'ok') return await received(given, taken.payload, options.schema)
    return await parts.waits.until({ kind: 'signal', step: name, signal: given, timeoutMs })
  } finally {
    end()
  }
}

/** True where nothing is recorded that the code has not asked for yet: it is here for the first time. */
function isFirst(parts: CodeParts): boolean {
  for (const name of parts.history.keys()) {
    if (!name.startsWith('patch:') && !parts.names.asked.has(name)) return false
  }
  return true
}

/** Recorded where the code came first with the change. A run that had passed the place before never gets that record. */
async function patched(parts: CodeParts, name: string): Promise<boolean> {
  if (parts.history.has(name)) return true
  if (!isFirst(parts)) return false
  const { runId, leaseId } = parts.held.node
  const record = { runId, leaseId, name, output: 'true', state: 'done' as const }
  if (!(await parts.waits.during(async () => parts.worker.ends.record(record, () => parts.held.leaseUntil))))
    throw leaseLost()
  return true
}

/** One answer per name: asked again, it is the same. */
export async function codePatch(parts: CodeParts, given: string): Promise<boolean> {
  const name = `patch:${patchName.read(given, root(), 'patch name')}`
  const known = parts.patches.get(name) ?? patched(parts, name)
  parts.patches.set(name, known)
  return known
}

export async function codeAll(steps: readonly unknown[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(steps)
  const failed = settled.find((one) => one.status === 'rejected')
  if (failed !== undefined) {
    throw failed.reason instanceof Error ? failed.reason : new LockstepError('internal', String(failed.reason))
  }
  return settled.map((one) => (one.status === 'fulfilled' ? one.value : null))
}
