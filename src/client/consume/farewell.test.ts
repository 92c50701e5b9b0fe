import assert from 'node:assert/strict'
import { test } from 'node:test'
import { farewell } from './farewell.ts'

const LONG_AGO = -10_000

test('a poll that was sent just now is let answer; an older one, and one in process, is given up at once', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const given: string[] = []
  const { giveUp } = farewell(false)
  giveUp(LONG_AGO, () => given.push('old'))
  const answered = giveUp(performance.now(), () => given.push('answered'))
  giveUp(performance.now(), () => given.push('young'))
  farewell(true).giveUp(performance.now(), () => given.push('in process'))
  assert.deepEqual(given, ['old', 'in process'])
  answered()
  t.mock.timers.tick(1_000)
  assert.deepEqual(given, ['old', 'in process', 'young'])
})

test('what is handed back waits until a poll that was given up is gone', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { giveUp, heard } = farewell(false)
  await heard()
  giveUp(LONG_AGO, () => {})
  let gone = false
  const waiting = (async () => {
    await heard()
    gone = true
  })()
  await Promise.resolve()
  assert.equal(gone, false)
  t.mock.timers.tick(1_000)
  await waiting
  const inProcess = farewell(true)
  inProcess.giveUp(LONG_AGO, () => {})
  await inProcess.heard()
})
