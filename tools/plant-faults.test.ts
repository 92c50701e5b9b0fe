// The rig is tested too: what is broken on purpose is noticed. On every change three of the planted faults, in the long run all.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { packageRoot } from '../src/db/sql-files.ts'
import { GUARDED } from './faults/guarded.ts'
import { PLANTED } from './faults/planted.ts'

const ALL = [...PLANTED, ...GUARDED]

const WANTED = process.env['LOCKSTEP_LONG'] === '1' ? [] : ['token of an ack', 'wakes nobody', 'without its tag']

const run = (
  words: readonly string[],
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } =>
  spawnSync(process.execPath, [join(packageRoot(), '.build', 'tools', 'plant-faults.js'), ...words], {
    encoding: 'utf8',
  })

test('the tests fail for what is broken on purpose', () => {
  const { status, stdout, stderr } = run(WANTED)
  assert.equal(status, 0, stdout + stderr)
  assert.equal(stdout.match(/^caught/gm)?.length, WANTED.length === 0 ? ALL.length : WANTED.length)
})

test('every planted fault finds the text that it changes', () => {
  for (const { what, file, from } of ALL)
    assert.ok(
      readFileSync(join(packageRoot(), file), 'utf8').includes(from),
      `${what}: ${file} no longer holds its text`,
    )
})

test('words that fit no planted fault are refused', () => {
  assert.equal(run(['no-such-fault']).status, 1)
})
