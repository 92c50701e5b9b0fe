// The names for defining work and for its runs, shown by every entry of the package: pure, so that a browser may submit.
export { action, type Action, type ActionSpec } from '../workflow/define/action.ts'
export { createActions, type BoundDefinitions } from '../workflow/define/create-actions.ts'
export { workflow, type CodeSpec, type CodeWorkflow, type GraphSpec } from '../workflow/define/workflow.ts'
export { schedule, type RhythmOptions, type Schedule, type ScheduleSpec } from '../workflow/define/schedule.ts'
export type { InputOf, StartingQueue, StartOnOptions, StartVerb } from '../workflow/define/start-on.ts'
export { PermanentError, RetryAfter, type StoredError } from '../workflow/define/failures.ts'
export type { BeforeCommit, Worker, WorkerHooks, WorkerOptions, WorkerStatus } from '../workflow/define/worker.ts'
export { StepKeyRequiredError } from '../workflow/define/step-key-required.ts'
export type { NamedWorkflow, RunEntry } from '../workflow/run/run-entry.ts'
export type { PreviewOptions, Scheduled, Schedules, ScheduleStatus, Triggered } from '../workflow/run/schedule-entry.ts'
export type { Misfire, Overlap, ShownSchedule, ShownSlot } from '../protocol/schedule.ts'
export { RunNotFoundError } from '../workflow/run/run-not-found.ts'
export type { MissingReason } from '../protocol/run.ts'
export type { Completion, Door, OpenLimits } from '../protocol/completion.ts'
export type {
  CodeContext,
  CodeStep,
  KeyOptions,
  PgTx,
  StepContext,
  StepKv,
  StepLog,
  StepQueue,
  WaitForSignalOptions,
} from '../workflow/define/contexts.ts'
export type { Compensation, Given, Graph, MapItem, NodeOptions, Settled, Workflow } from '../workflow/define/graph.ts'
export type { Jsonified } from '../workflow/define/jsonified.ts'
export type {
  ConcurrencyOptions,
  Duration,
  RateOptions,
  RetentionOptions,
  RetryOptions,
} from '../workflow/define/policy.ts'
export type {
  RunHandle,
  RunState,
  RunStatus,
  Startable,
  Starter,
  SubmitOptions,
  Submitter,
  WaitOptions,
} from '../workflow/define/submitter.ts'
