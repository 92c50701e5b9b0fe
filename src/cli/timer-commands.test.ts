import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parsed, run } from '../testing/run-program.ts'
import { createTestDatabase } from '../testing/database.ts'

describe('timer list, show and cancel', () => {
  it('page through what is pending, print the message as it is, and say when there is none', async (t) => {
    const own = await createTestDatabase(t)
    const env = { DATABASE_URL: own.connectionString }
    const lockstep = async (...words: readonly string[]): ReturnType<typeof run> => run(words, { env })
    assert.match((await lockstep('timer', 'list', 'reminders')).out, /No timer of reminders is pending/)
    for (const key of ['a', 'b/1', 'c']) {
      await own.database.rows(
        `select lockstep.timer_schedule('reminders', $1, '{"n": 9007199254740993}', '1 day', 'p', 't-' || $1)`,
        [key],
      )
    }
    const page = await lockstep('timer', 'list', 'reminders', '--limit', '2')
    assert.match(page.out, /^key +fires at +partition +transaction id +attempts.*\na +.*p +t-a +0\nb\/1 /)
    assert.match(page.out, /more: lockstep timer list reminders --after b\/1/)
    const { timers, nextAfter } = parsed(await lockstep('timer', 'list', 'reminders', '--after', 'b/1', '--json'))
    assert.ok(Array.isArray(timers))
    assert.deepEqual([timers.length, timers[0].key, nextAfter], [1, 'c', null])

    const shown = await lockstep('timer', 'show', 'reminders', 'b/1')
    assert.match(shown.out, /^\{"n": 9007199254740993\}\nfires at .* into partition p as t-b\/1/)
    assert.match((await lockstep('timer', 'show', 'reminders', 'b/1', '--json')).out, /"n": ?9007199254740993/)
    assert.match((await lockstep('timer', 'cancel', 'reminders', 'b/1')).out, /is cancelled/)
    for (const verb of ['show', 'cancel']) {
      const ended = await lockstep('timer', verb, 'reminders', 'b/1')
      assert.equal(ended.status, 1)
      assert.match(ended.out, /No timer b\/1 of reminders is pending/)
    }
  })
})
