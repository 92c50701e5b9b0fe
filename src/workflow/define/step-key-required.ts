// Thrown in code workflows when a step's name says no longer which step is meant: two of one name at once could change places
// at the next run of the code, and each would get the other's result.
import { LockstepError } from '../../protocol/errors.ts'

export class StepKeyRequiredError extends LockstepError {
  override readonly name = 'StepKeyRequiredError'

  constructor(step: string) {
    super('step_key_required', `a step '${step}' is in flight already: give each a key, as in { key: item.id }`, {
      step,
    })
  }
}
