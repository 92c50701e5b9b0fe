// The id of a run as a command's argument.

import type { Call } from './call.ts'
import { UsageError } from './usage-error.ts'

export const RUN_ARGUMENT = { name: 'run', meaning: 'The id of the run, as `lockstep run list` tells it.' } as const

export function runId(call: Call): string {
  const id = call.argument('run')
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) {
    throw new UsageError(`'${id}' is no id of a run.`, 'lockstep run list')
  }
  return id
}
