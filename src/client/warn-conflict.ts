// Says once per group that it conflates, or does not, against what its pops ask for: what it was registered with stands.
import type { Logger } from './logger.ts'
import type { Plan } from './plan.ts'

export type WarnConflict = (plan: Plan) => void

const KEPT = 1_000

export function warnConflict(log: Logger): WarnConflict {
  const warned = new Set<string>()
  return ({ definition, group, conflation }) => {
    const key = `${definition.name}\0${group}`
    if (warned.has(key) || warned.size >= KEPT) return
    warned.add(key)
    log.warn(
      { queue: definition.name, group },
      `the group was registered ${conflation ? 'without' : 'with'} conflation, and stays so; forgetGroup() lets it start anew`,
    )
  }
}
