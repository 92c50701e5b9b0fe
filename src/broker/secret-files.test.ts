import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { LIMITS } from '../protocol/limits.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { withSecretFiles } from './secret-files.ts'

test('a file is read up to its limit, without the newline that editors leave, and one past it is refused by its setting', (t) => {
  const folder = temporaryFolder('secrets')
  t.after(() => folder.remove())
  const file = join(folder.path, 'secret')
  const read = (content: string): string | undefined => {
    writeFileSync(file, content)
    return withSecretFiles({ JWT_SECRET_FILE: file }, ['JWT_SECRET'])['JWT_SECRET']
  }
  assert.equal(read('secret\n'), 'secret')
  assert.equal(read('x'.repeat(LIMITS.secretFileBytes))?.length, LIMITS.secretFileBytes)
  assert.throws(() => read('x'.repeat(LIMITS.secretFileBytes + 1)), /JWT_SECRET_FILE must name a file of at most/)
  assert.throws(() => read('\n'), /that is not empty/)
})
