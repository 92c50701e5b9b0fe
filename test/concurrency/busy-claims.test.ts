// Two processes that pop at once: a claim passes by the lanes that another's claim has locked, and must say so, for that one
// may let most of them go again. Calling that empty would end a consumer that drains; and a floor carried over from it would
// hide the lanes from the next look.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { openActor } from '../kit/actor.ts'
import { item, popOf } from '../kit/speech.ts'

const PARTITIONS = ['a', 'b', 'c']

test('what another claim holds is busy, not nothing, and is found from the same floor once it is let go', async (t) => {
  const own = await createTestDatabase(t)
  const other = await openActor(own, 'other')
  await pop(own.database, popOf('q', 'g'))
  await push(
    own.database,
    PARTITIONS.map((partition) => item('q', partition, partition)),
  )
  await other.sql(`update lockstep.lane set available_at = lockstep.clock() - interval '1 hour'`)
  await other.sql('begin')
  const held = await pop(other.db, popOf('q', 'g', { partitions: 2, batch: 2 }))
  assert.equal(held.answers.flat().length, 2)

  const leaseIds = [mintId(), mintId()]
  const some = await pop(own.database, popOf('q', 'g', { leaseIds, batch: 1 }))
  assert.deepEqual(
    [some.answers.flat().length, some.again],
    [1, 'busy'],
    'one pop is served, the other is not for nothing',
  )
  const none = await pop(own.database, popOf('q', 'g', { floor: some.floor }))
  assert.deepEqual([none.answers.flat(), none.again], [[], 'busy'])
  const [partition = ''] = held.answers.flat().map((message) => message.partition)
  assert.equal((await pop(own.database, popOf('q', 'g', { partition }))).again, 'busy')
  await other.sql('rollback')

  const found = await pop(own.database, popOf('q', 'g', { floor: none.floor, partitions: 3 }))
  assert.equal(found.answers.flat().length, 2)
  assert.equal((await pop(own.database, popOf('q', 'g', { floor: found.floor }))).again, 'no')
  assert.equal((await pop(own.database, popOf('q', 'g', { partition }))).again, 'no')
})
