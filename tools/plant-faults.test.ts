// The rig is tested too: what is broken on purpose is noticed. On every change three of the planted faults, in the long run all.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import test from 'node:test'
import { packageRoot } from '../src/db/sql-files.ts'

const ROUNDS = process.env['LOCKSTEP_LONG'] === '1' ? [''] : ['token of an ack', 'wakes nobody', 'without its tag']

test('the tests fail for what is broken on purpose', () => {
  for (const words of ROUNDS) {
    const tool = join(packageRoot(), '.build', 'tools', 'plant-faults.js')
    const run = spawnSync(process.execPath, [tool, ...words.split(' ').filter(Boolean)], { encoding: 'utf8' })
    assert.equal(run.status, 0, run.stdout + run.stderr)
    assert.doesNotMatch(run.stdout, /NOT CAUGHT/)
  }
})

test('a fault that nobody has is told as none', () => {
  const tool = join(packageRoot(), '.build', 'tools', 'plant-faults.js')
  const run = spawnSync(process.execPath, [tool, 'no-such-fault'], { encoding: 'utf8' })
  assert.equal(run.status, 1)
})
