// The verbs that an action and a workflow have of their own, each one line over the client they are given.
import type { OpenClient } from '../../client/transaction-client.ts'
import type { Joinable } from '../../protocol/joinable.ts'
import { startVerb, type StartVerb } from './start-on.ts'
import type { RunHandle, Startable, SubmitOptions, Submitter } from './submitter.ts'

export interface SubmitVerbs<In, Out> extends StartVerb<In> {
  submit(lockstep: Submitter, input: In, options?: SubmitOptions): Promise<RunHandle<Out>>
  /** Exactly `lockstep.in(tx).submit(…)`: the run exists when the caller's transaction commits. */
  submitTx(lockstep: Submitter, tx: OpenClient | Joinable, input: In, options?: SubmitOptions): Promise<RunHandle<Out>>
  submitMany(lockstep: Submitter, inputs: readonly In[], options?: SubmitOptions): Promise<readonly RunHandle<Out>[]>
}

export interface EnqueueVerbs<In, Out> {
  enqueue(lockstep: Submitter, input: In, options?: SubmitOptions): Promise<RunHandle<Out>>
  /** Exactly `lockstep.in(tx).enqueue(…)`: the job exists when the caller's transaction commits. */
  enqueueTx(lockstep: Submitter, tx: OpenClient | Joinable, input: In, options?: SubmitOptions): Promise<RunHandle<Out>>
  enqueueMany(lockstep: Submitter, inputs: readonly In[], options?: SubmitOptions): Promise<readonly RunHandle<Out>[]>
}

export function submitVerbs<In, Out>(self: () => Startable<In, Out>): SubmitVerbs<In, Out> {
  return {
    submit: async (lockstep, input, options) => lockstep.submit(self(), input, options),
    submitTx: async (lockstep, tx, input, options) => lockstep.in(tx).submit(self(), input, options),
    submitMany: async (lockstep, inputs, options) => lockstep.submitMany(self(), inputs, options),
    ...startVerb(self),
  }
}

export function enqueueVerbs<In, Out>(self: () => Startable<In, Out>): EnqueueVerbs<In, Out> {
  return {
    enqueue: async (lockstep, input, options) => lockstep.enqueue(self(), input, options),
    enqueueTx: async (lockstep, tx, input, options) => lockstep.in(tx).enqueue(self(), input, options),
    enqueueMany: async (lockstep, inputs, options) => lockstep.enqueueMany(self(), inputs, options),
  }
}
