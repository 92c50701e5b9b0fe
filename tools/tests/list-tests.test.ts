// Which files are run: every compiled test, only those asked for, and which of them also run on older servers.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { packageRoot } from '../../src/db/sql-files.ts'
import { temporaryFolder } from '../../src/testing/temporary-folder.ts'
import { isCore, listTests } from './list-tests.ts'

test('all compiled tests are listed in a stable order, whatever they are asked by', (t) => {
  const { path, remove } = temporaryFolder('list')
  t.after(remove)
  mkdirSync(join(path, 'src', 'db'), { recursive: true })
  for (const file of ['b.test.js', 'a.test.js', 'a.js', 'a.test.js.map', 'src/db/pool.test.js'])
    writeFileSync(join(path, file), '')
  const listed = (...words: string[]): readonly string[] =>
    listTests(path, words).map((file) => file.slice(path.length + 1))
  assert.deepEqual(listed(), ['a.test.js', 'b.test.js', 'src/db/pool.test.js'])
  assert.deepEqual(listed('src/db/pool.test.ts'), ['src/db/pool.test.js'])
  assert.deepEqual(listed('.build/src/db/pool.test.js'), ['src/db/pool.test.js'])
  assert.deepEqual(listed('./src/db'), ['src/db/pool.test.js'])
  assert.deepEqual(listed('b', 'db/'), ['b.test.js', 'src/db/pool.test.js'])
  assert.deepEqual(listed('nothing'), [])
})

test('every test of this checkout that the build knows is listed', () => {
  const listed = listTests(join(packageRoot(), '.build'), [])
  assert.ok(listed.some((file) => file.endsWith(join('tools', 'tests', 'list-tests.test.js'))))
  assert.ok(listed.length > 20)
})

test('the SQL core is what also runs on older servers', () => {
  for (const path of [
    'src/db/pool.test.js',
    'src/operations/pop.test.js',
    'src/upkeep/jobs.test.js',
    'test/sql/x.test.js',
    'test/concurrency/y.test.js',
  ]) {
    assert.ok(isCore(path), path)
  }
  for (const path of ['src/broker/x.test.js', 'test/crash/x.test.js', 'tools/x.test.js', 'src/dbx/x.test.js'])
    assert.ok(!isCore(path), path)
})
