// One piece of upkeep by its name, to be stepped by a test instead of its runner.
import type { Job } from '../../src/upkeep/job.ts'
import { allJobs } from '../../src/upkeep/runner.ts'

export function jobNamed(name: string): Job {
  const job = allJobs(() => {}).find((one) => one.name === name)
  if (job === undefined) throw new Error(`there is no upkeep '${name}'`)
  return job
}
