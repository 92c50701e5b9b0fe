// Asks PostgreSQL whether it answers. All askers of a moment share one question, so that health costs nothing under load;
// it goes first at the gate, so that load is not mistaken for an outage.
import type { Database } from '../db/pool.ts'
import { LockstepError } from '../protocol/errors.ts'
import type { ErrorCode } from '../protocol/errors.ts'
import type { Admission } from '../traffic/admission.ts'
import { RANK } from '../traffic/admission.ts'

const PATIENCE_MS = 3_000

export interface Health {
  readonly database: 'up' | 'down'
  readonly code: ErrorCode | null
}

export interface HealthCheck {
  ask(): Promise<Health>
  /** From now on this broker is not to be sent to, however well PostgreSQL is. */
  drain(): void
  readonly draining: boolean
}

export function createHealthCheck(database: Database, admission: Admission): HealthCheck {
  let asking: Promise<Health> | null = null
  let draining = false

  async function question(): Promise<Health> {
    let timer: NodeJS.Timeout | null = null
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new LockstepError('timeout', 'no answer in time')), PATIENCE_MS)
    })
    try {
      await Promise.race([
        admission.enter(RANK.health, () => database.reader.rows('select lockstep.clock()', [])),
        late,
      ])
      return { database: 'up', code: null }
    } catch (error) {
      return { database: 'down', code: error instanceof LockstepError ? error.code : 'internal' }
    } finally {
      if (timer) clearTimeout(timer)
      asking = null
    }
  }

  return {
    ask: () => (asking ??= question()),
    drain() {
      draining = true
    },
    get draining() {
      return draining
    },
  }
}
