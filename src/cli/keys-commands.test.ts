// Keys and the audit from the command line: what is known is listed without a key, a rotation seals anew, deletions carry the user.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { test } from 'node:test'
import { createTestDatabase } from '../testing/database.ts'
import { fault, parsed, run, type Ended } from '../testing/run-program.ts'

test('keys are listed and rotated; the audit tells who deleted', async (t) => {
  const { connectionString, database } = await createTestDatabase(t)
  const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
  const lockstep = (keys: string | null, ...words: string[]): Promise<Ended> =>
    run(words, {
      env: { DATABASE_URL: connectionString, ...(keys === null ? {} : { LOCKSTEP_ENCRYPTION_KEYS: keys }) },
    })
  await database.rows(`select lockstep.configure('q', '{"encryptionEnabled":true}')`, [])
  assert.match((await lockstep(null, 'keys', 'list')).out, /No process has used a key/)
  assert.equal((await lockstep(`k1:${first}`, 'queue', 'push', 'q', '{"a":1}')).status, 0)
  assert.equal(fault(await lockstep(null, 'queue', 'push', 'q', '{"a":2}', '--json')).code, 'encryption_required')

  const both = `k2:${second},k1:${first}`
  const rotated = await lockstep(both, 'keys', 'rotate', '--json')
  assert.deepEqual(parsed(rotated), {
    key: 'k2',
    resealed: { message: 1, staged: 0, dead_letter: 0, timer: 0 },
    unopened: 0,
  })
  const listed = await lockstep(both, 'keys', 'list')
  assert.match(listed.out, /k1 .* yes\nk2 .* current/)
  assert.match((await lockstep(`k2:${second}`, 'queue', 'pop', 'q', '--group', 'g')).out, /\{"a":1\}/)
  const wrong = await lockstep(`k1:${second}`, 'keys', 'rotate', '--json')
  assert.match(String(fault(wrong).message), /the encryption key k1 is another one/)
  const bad = await lockstep(`k1:${first.slice(5)}`, 'keys', 'list', '--json')
  assert.match(String(fault(bad).message), /32 random bytes in base64 or hex; k1 is not/)
  for (const ended of [rotated, listed, wrong, bad]) {
    for (const secret of [first, second, first.slice(5)]) assert.ok(!`${ended.out}${ended.err}`.includes(secret))
  }

  assert.match((await lockstep(both, 'doctor')).out, /ok {4}encryption .*k1, k2; here: k2, k1/)
  assert.match((await lockstep(null, 'doctor')).out, /warn {2}encryption .*none of the keys/)
  assert.match((await lockstep(`k1:${second}`, 'doctor')).out, /FAIL {2}encryption .*k1.*another one/)

  assert.equal((await lockstep(null, 'queue', 'delete', 'q', '--yes')).status, 0)
  const audit = await lockstep(null, 'audit', 'list', '--action', 'delete_queue')
  assert.match(audit.out, new RegExp(`command:${userInfo().username} +delete_queue +.*"q".*deleted`))
})
