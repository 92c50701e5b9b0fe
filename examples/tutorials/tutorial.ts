// What every tutorial shares: a client by either way, names of its own for each run, and checks that are counted and printed.
// A tutorial that breaks its promise ends with a non-zero status.
import { Lockstep } from 'lockstep'

export interface Tutorial {
  readonly lockstep: Lockstep
  /** A queue, group or key that no other run uses. */
  readonly named: (base: string) => string
  /** Records one verified fact, or ends the tutorial. */
  readonly check: (holds: boolean, fact: string) => void
}

/** Through a broker at LOCKSTEP_URL, or straight to PostgreSQL at DATABASE_URL. */
function connect(): Lockstep {
  const { LOCKSTEP_URL: url, DATABASE_URL: connectionString } = process.env
  if (url !== undefined && url !== '') return new Lockstep({ url })
  if (connectionString !== undefined && connectionString !== '') return new Lockstep({ connectionString })
  throw new Error('set LOCKSTEP_URL (a broker, such as http://localhost:6632) or DATABASE_URL (PostgreSQL)')
}

export async function tutorial(title: string, run: (t: Tutorial) => Promise<void>): Promise<void> {
  const started = Date.now().toString(36)
  let checks = 0
  let lockstep: Lockstep | null = null
  console.log(title)
  try {
    lockstep = connect()
    await run({
      lockstep,
      named: (base) => `${base}-${started}`,
      check(holds, fact) {
        if (!holds) throw new Error(fact)
        checks += 1
        console.log(`  ok: ${fact}`)
      },
    })
    console.log(`PASS: ${checks} checks\n`)
  } catch (error) {
    console.error(`FAIL: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  } finally {
    await lockstep?.close()
  }
}
