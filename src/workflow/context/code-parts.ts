// What the verbs of one run of code share. Types, and the reading of what was recorded.
import type { RecordedStep } from '../../protocol/run.ts'
import { LockstepError } from '../../protocol/errors.ts'
import type { CodeDefinition } from '../define/definition.ts'
import { revivedError, type StoredError } from '../define/failures.ts'
import type { Held } from '../worker/held-nodes.ts'
import type { WorkerParts } from '../worker/worker-parts.ts'
import type { StepNames } from './step-names.ts'
import type { Waits } from './waits.ts'

export interface CodeParts {
  readonly worker: WorkerParts
  readonly held: Held
  readonly definition: CodeDefinition
  readonly history: ReadonlyMap<string, RecordedStep>
  readonly names: StepNames
  readonly waits: Waits
  /** What was answered in this run of the code. */
  readonly patches: Map<string, Promise<boolean>>
  readonly abortSignal: () => AbortSignal
}

export function parsedOutput(text: string | null): unknown {
  return text === null ? null : JSON.parse(text)
}

/** The failure of what code called, with the error that failed it as its cause. */
export function stepFailed(name: string, errorText: string | null): LockstepError {
  // Written by storedError or by our own SQL.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const stored = errorText === null ? null : (JSON.parse(errorText) as StoredError)
  const cause = stored === null ? undefined : revivedError(stored)
  return new LockstepError('step_failed', `'${name}' failed: ${stored?.message ?? 'unknown'}`, { step: name }, cause)
}

export function leaseLost(): LockstepError {
  return new LockstepError('lease_lost', 'the lease of this run was lost')
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ['done', 'a step'],
  ['returned', 'a call'],
  ['failed', 'a call'],
  ['sleeping', 'a sleep'],
  ['waiting', 'a signal'],
  ['heard', 'a signal'],
  ['called', 'a run of another workflow'],
])

/** A recorded name that the code now uses for something else is reported, never given the wrong result. */
export function demandKind(name: string, recorded: RecordedStep, states: readonly string[], what: string): void {
  if (recorded.ordinal === null && states.includes(recorded.state)) return
  const was = recorded.ordinal === null ? (KINDS.get(recorded.state) ?? 'something else') : 'a call'
  throw new LockstepError(
    'bad_request',
    `'${name}' was recorded as ${was} and is now used as ${what}: give it another name`,
    {
      step: name,
    },
  )
}
