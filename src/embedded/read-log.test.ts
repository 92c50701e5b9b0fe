import assert from 'node:assert/strict'
import { it } from 'node:test'
import { explainLog } from './read-log.ts'

it('names the known causes with the folder they are about, in the words of the server too', () => {
  const full = '2026-01-01 UTC [1] FATAL:  could not write lock file "postmaster.pid": No space left on device\n'
  assert.match(explainLog(full, 'home'), /^no space is left on the disk of home\. It said: .*postmaster\.pid/)
  assert.match(
    explainLog('initdb: error: could not create directory: Disk quota exceeded', 'home'),
    /quota of home is used up/,
  )
  assert.match(
    explainLog('FATAL:  could not open file: Read-only file system', 'home'),
    /^the file system of home is read-only/,
  )
  assert.match(
    explainLog('FATAL:  could not open file: Permission denied', 'home'),
    /^permission is denied somewhere under home/,
  )
})

it('gives the last faults of what it does not know, and says when there is nothing', () => {
  const log = 'LOG:  starting\nFATAL:  something new\nHINT:  do this\nLOG:  database system is shut down\n'
  assert.equal(explainLog(log, 'home'), 'it said: FATAL:  something new / HINT:  do this')
  assert.equal(explainLog('only words\n', 'home'), 'it said: only words')
  assert.equal(explainLog(' \n', 'home'), 'it printed nothing.')
  assert.ok(explainLog('x'.repeat(100_000), 'home').length < 1_100)
})
