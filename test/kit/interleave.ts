// Runs the steps of two or three sessions in every order that keeps each session's own, against real PostgreSQL. A session
// that is blocked keeps its later steps until it is free. What must hold at the end is the specification's to say.
import type { TestDatabase } from '../../src/testing/database.ts'
import { ordersOf } from '../../src/testing/orders-of.ts'
import { openActor, type Actor, type Outcome } from './actor.ts'
import { quiet } from './quiet.ts'

export type Step<W> = (actor: Actor, world: W) => Promise<unknown>

export interface Specification<W> {
  readonly name: string
  /** Makes a world of its own for one order. */
  readonly setup: (own: TestDatabase, nth: number) => Promise<W>
  readonly sessions: readonly (readonly Step<W>[])[]
  readonly check: (world: W, told: readonly (readonly Outcome[])[], own: TestDatabase) => Promise<void>
}

/** How many orders were run, of those that are wanted. Throws with the order in which the check failed, as session numbers. */
export async function interleave<W>(
  own: TestDatabase,
  specification: Specification<W>,
  wanted: (order: readonly number[]) => boolean = () => true,
  given: readonly Actor[] | null = null,
): Promise<number> {
  const { sessions } = specification
  const actors = given ?? (await openActors(own, sessions.length))
  const orders = ordersOf(sessions.map((steps) => steps.length)).filter(wanted)
  for (const order of orders) {
    const world = await specification.setup(own, next++)
    try {
      await specification.check(world, await runOrder(own, specification, actors, order, world), own)
    } catch (error) {
      throw new Error(`${specification.name}, in the order ${order.map((at) => at + 1).join(' ')}: ${String(error)}`, {
        cause: error,
      })
    }
  }
  if (given === null) await endActors(actors)
  return orders.length
}

/** For many specifications one after the other: a session that has run its functions once runs them faster. */
export async function openActors(own: TestDatabase, count: number): Promise<readonly Actor[]> {
  return Promise.all(Array.from({ length: count }, async (_, at) => openActor(own, `session ${at + 1}`)))
}

export async function endActors(actors: readonly Actor[]): Promise<void> {
  await Promise.all(actors.map((actor) => actor.client.end()))
}

let next = 1

async function runOrder<W>(
  own: TestDatabase,
  { sessions }: Specification<W>,
  actors: readonly Actor[],
  order: readonly number[],
  world: W,
): Promise<readonly (readonly Outcome[])[]> {
  const told: Promise<Outcome>[][] = sessions.map(() => [])
  for (const at of order) {
    const actor = actors[at]
    const list = told[at]
    const step = list && sessions[at]?.[list.length]
    if (!actor || !list || !step) throw new Error('the order names no step')
    list.push(actor.hand(() => step(actor, world)))
    await quiet(own, actors)
  }
  const outcomes = await Promise.all(told.map((list) => Promise.all(list)))
  // A step that failed leaves its transaction to be ended here.
  await Promise.all(actors.map((actor) => actor.sql('rollback')))
  return outcomes
}

/** The steps of a session that runs its work between BEGIN and COMMIT, the two ends of its locks. */
export function inTransaction<W>(work: Step<W>, level = 'read committed'): readonly Step<W>[] {
  return [
    async (actor, world) => {
      await actor.sql(`begin isolation level ${level}`)
      return work(actor, world)
    },
    (actor) => actor.sql('commit'),
  ]
}
