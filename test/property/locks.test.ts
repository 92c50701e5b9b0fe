// Random programs over locks and semaphores against a model of their rules: who holds what, until when, and tokens that only
// rise. The clock is moved in steps that are longer than a program takes.
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { locks } from '../../src/operations/locks.ts'
import type { LockOperation, LockResult } from '../../src/protocol/lock.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { moveClock } from '../kit/clock.ts'

const LONG = process.env['LOCKSTEP_LONG'] === '1'
const STEP_S = 1_000

interface Permit {
  readonly owner: string | null
  readonly token: number
  readonly endsAt: number
}

class Model {
  now = 0
  /** Of any lock: no later one is lower. */
  highest = 0
  readonly permits = new Map<string, Permit>()
  /** All that were ever told, so that stale ones are tried too. */
  readonly told: { readonly name: string; readonly slot: number; readonly token: number }[] = []

  live(name: string, slot: number): Permit | null {
    const permit = this.permits.get(`${name}#${slot}`)
    return permit !== undefined && permit.endsAt > this.now ? permit : null
  }

  holders(name: string): readonly { readonly slot: number; readonly owner: string | null }[] {
    return Array.from({ length: 8 }, (_, slot) => slot).flatMap((slot) => {
      const permit = this.live(name, slot)
      return permit === null ? [] : [{ slot, owner: permit.owner }]
    })
  }

  take(name: string, slot: number, permit: Permit): void {
    assert.ok(permit.token > this.highest, `token ${permit.token} is not above ${this.highest}`)
    this.highest = permit.token
    this.permits.set(`${name}#${slot}`, permit)
    this.told.push({ name, slot, token: permit.token })
  }

  judge(operation: LockOperation, result: LockResult): void {
    const { name } = operation
    if (operation.op === 'get') {
      assert.ok(result.op === 'get')
      assert.deepEqual(
        result.holders.map(({ slot, owner, token }) => [slot, owner, token]),
        this.holders(name).map(({ slot, owner }) => [slot, owner, this.live(name, slot)?.token]),
      )
      return
    }
    assert.ok(result.op === operation.op)
    if (!result.done) assert.deepEqual(result.holders, this.holders(name))
    if (operation.op === 'acquire') this.judgeAcquire(operation, result)
    else this.judgeHeld(operation, result)
  }

  private judgeAcquire(operation: Extract<LockOperation, { op: 'acquire' }>, result: LockResult): void {
    const { name, owner, limit, ttlSeconds } = operation
    const slots = Array.from({ length: limit }, (_, slot) => slot)
    const own = slots.find((slot) => owner !== null && this.live(name, slot)?.owner === owner)
    const free = slots.find((slot) => this.live(name, slot) === null)
    assert.ok(result.op === 'acquire')
    if (own !== undefined) {
      assert.deepEqual(result, {
        op: 'acquire',
        done: true,
        already: true,
        slot: own,
        token: this.live(name, own)?.token,
      })
    } else if (free === undefined) assert.deepEqual([result.done, 'reason' in result && result.reason], [false, 'held'])
    else {
      assert.ok(result.done && !result.already && result.slot === free)
      this.take(name, free, { owner, token: result.token, endsAt: this.now + ttlSeconds })
    }
  }

  private judgeHeld(operation: Extract<LockOperation, { op: 'renew' | 'release' }>, result: LockResult): void {
    const { name, token, slot } = operation
    const permit = this.live(name, slot)
    const carried = operation.op === 'renew' && operation.owner !== null && permit?.owner === operation.owner
    assert.ok('done' in result)
    assert.equal(result.done, permit !== null && (permit.token === token || carried), 'held exactly by its token')
    if (permit === null || !result.done) return
    if (operation.op === 'release') this.permits.delete(`${name}#${slot}`)
    else if (result.op === 'renew') {
      this.take(name, slot, { owner: permit.owner, token: result.token, endsAt: this.now + operation.ttlSeconds })
    }
  }
}

const name = fc.constantFrom('a', 'b')
const owner = fc.constantFrom('x', 'y', 'z', null)
const ttlSeconds = fc.constantFrom(STEP_S, STEP_S * 2)
const draws = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('acquire' as const),
      name,
      owner,
      ttlSeconds,
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('renew' as const), at: fc.nat(), owner, ttlSeconds }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('release' as const), at: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('get' as const), name }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('pass' as const) }) },
)

test('every answer to a random program of locks is the one that their rules give', async (t) => {
  const own = await createTestDatabase(t)
  await moveClock(own, 0)
  let programs = 0
  const property = fc.asyncProperty(fc.array(draws, { maxLength: 30 }), async (program) => {
    const prefix = `${(programs += 1)}-`
    const model = new Model()
    for (const drawn of program) {
      if (drawn.op === 'pass') {
        await moveClock(own, STEP_S)
        model.now += STEP_S
        continue
      }
      // Mostly the last ones, seldom one that is long gone; before there is any, one that never was.
      const told =
        'at' in drawn ? model.told.at(-1 - (drawn.at % Math.max(1, Math.min(4, model.told.length)))) : undefined
      const permit = told ?? { name: `${prefix}a`, slot: 0, token: 1 }
      const operation: LockOperation =
        'at' in drawn
          ? drawn.op === 'renew'
            ? { ...permit, op: drawn.op, owner: drawn.owner, ttlSeconds: drawn.ttlSeconds }
            : { ...permit, op: drawn.op }
          : { ...drawn, name: prefix + drawn.name }
      const [[result] = []] = await locks(own.database, [[operation]])
      assert.ok(result)
      model.judge(operation, result)
    }
  })
  const { LOCKSTEP_SEED: seed, LOCKSTEP_PATH: path } = process.env
  await fc.assert(property, {
    numRuns: LONG ? 2_000 : 60,
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    ...(path === undefined ? {} : { path }),
  })
})
