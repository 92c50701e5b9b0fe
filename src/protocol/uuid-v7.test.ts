import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uuidV7 } from './uuid-v7.ts'

test('an id is a version 7 UUID whose first 48 bits are the time, and no two are equal', () => {
  const before = Date.now()
  const ids = Array.from({ length: 10_000 }, uuidV7)
  const after = Date.now()
  for (const id of ids) {
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const time = Number.parseInt(id.slice(0, 13).replace('-', ''), 16)
    assert.ok(time >= before && time <= after)
  }
  assert.equal(new Set(ids).size, ids.length)
})
