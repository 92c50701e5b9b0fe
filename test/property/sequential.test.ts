// Random programs of one client against the reference model: every answer is the one that the model gives. On a divergence
// fast-check shrinks the program and prints it with its seed and path; LOCKSTEP_SEED and LOCKSTEP_PATH run it again.
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { createTestDatabase } from '../../src/testing/database.ts'
import { openActor } from '../kit/actor.ts'
import { assertSound } from '../kit/soundness.ts'
import { programs, realOf } from './commands.ts'
import { CRASH_LIMIT, letter, Model, RETRY_LIMIT } from './model.ts'

const LONG = process.env['LOCKSTEP_LONG'] === '1'
const RUNS = LONG ? 5_000 : 150

test('every answer to a random program is the one that the reference model gives', async (t) => {
  const own = await createTestDatabase(t)
  const user = await openActor(own, 'user')
  const { LOCKSTEP_SEED: seed, LOCKSTEP_PATH: path } = process.env
  const property = fc.asyncProperty(programs(LONG ? 60 : 40), async (program) => {
    const real = realOf(own, user)
    const options = {
      retryLimit: RETRY_LIMIT,
      crashLimit: CRASH_LIMIT,
      retryDelay: 0,
      dedupWindowSeconds: 31_536_000,
    }
    await own.database.rows('select * from lockstep.configure($1, $2::json)', [real.queue, JSON.stringify(options)])
    const model = new Model()
    await fc.asyncModelRun(() => ({ model, real }), program)
    const letters = await own.database.reader.rows(
      `select d.group_name, d.partition_name, d."offset" from lockstep.dead_letter d
         join lockstep.queue q on q.id = d.queue_id where q.name = $1`,
      [real.queue],
    )
    const buried = letters.map(([group, partition, offset]) => letter(group ?? '', partition ?? '', Number(offset)))
    assert.deepEqual(buried.toSorted(), model.letters.toSorted())
    await assertSound(own, real.queue)
  })
  await fc.assert(property, {
    numRuns: RUNS,
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    ...(path === undefined ? {} : { path }),
  })
})
