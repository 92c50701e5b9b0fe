import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAdmission, RANK } from './admission.ts'

test('behind a full gate acks go first, whatever came before them', async () => {
  const admission = createAdmission(1, 10)
  const order: string[] = []
  let open = (): void => {}
  const first = admission.enter(RANK.write, () => new Promise<void>((resolve) => (open = resolve)))
  const note = (name: string) => async (): Promise<void> => {
    order.push(name)
  }
  const rest = [
    admission.enter(RANK.read, note('read')),
    admission.enter(RANK.pop, note('pop')),
    admission.enter(RANK.ack, note('ack')),
    admission.enter(RANK.write, note('write')),
  ]
  open()
  await Promise.all([first, ...rest])
  assert.deepEqual(order, ['ack', 'write', 'pop', 'read'])
  assert.equal(admission.running, 0)
})

test('a full line refuses at once and a fault frees its place', async () => {
  const admission = createAdmission(1, 1)
  let fail: (error: Error) => void = () => {}
  const first = admission.enter(RANK.write, () => new Promise<void>((_, reject) => (fail = reject)))
  const second = admission.enter(RANK.write, async () => 'in')
  await assert.rejects(
    admission.enter(RANK.ack, async () => 'in'),
    { code: 'overloaded', status: 429 },
  )
  fail(new Error('broken'))
  await assert.rejects(first, /broken/)
  assert.equal(await second, 'in')
})

test('a flood of one rank does not starve another', async () => {
  const admission = createAdmission(1, 1_000)
  let served = 0
  let servedBefore = -1
  const flood = (): Promise<void> =>
    admission.enter(RANK.write, async () => {
      served += 1
      if (served < 200) void flood()
    })
  const first = flood()
  const more = Array.from({ length: 20 }, flood)
  const pop = admission.enter(RANK.pop, async () => {
    servedBefore = served
  })
  await Promise.all([first, ...more, pop])
  assert.ok(servedBefore >= 0 && servedBefore < 12, `served after ${servedBefore}`)
})
