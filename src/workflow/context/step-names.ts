// Names of steps within one run of the code: by name and key, numbered when one comes again after the other, refused when two
// of one name are in flight at once.
import { root, text } from '../../protocol/check.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { StepKeyRequiredError } from '../define/step-key-required.ts'

const nameField = text({ min: 1, max: LIMITS.nameBytes, longCode: 'name_too_long' })

export interface StepNames {
  /** The recorded name; `end` when the step is over. */
  enter(name: string, key: string | undefined): { readonly recorded: string; readonly end: () => void }
  /** Recorded names that the code asked for. */
  readonly asked: ReadonlySet<string>
}

export function createStepNames(): StepNames {
  const counts = new Map<string, number>()
  const inFlight = new Set<string>()
  const asked = new Set<string>()
  return {
    enter(name, key) {
      nameField.read(name, root(), 'step name')
      const base = key === undefined ? name : `${name}[${nameField.read(key, root(), 'key')}]`
      if (inFlight.has(base)) throw new StepKeyRequiredError(base)
      const count = (counts.get(base) ?? 0) + 1
      counts.set(base, count)
      const recorded = count === 1 ? base : `${base}#${count}`
      inFlight.add(base)
      asked.add(recorded)
      return { recorded, end: () => inFlight.delete(base) }
    },
    asked,
  }
}
