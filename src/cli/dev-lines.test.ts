import assert from 'node:assert/strict'
import { test } from 'node:test'
import { devLines } from './dev-lines.ts'

test('data that the other commands would not find is named by its own address', () => {
  const [, found, , here] = devLines({ port: 5433, passwordFile: '/app/.lockstep/postgres-password', isFound: true })
  assert.match(found ?? '', /url --password/)
  assert.equal(here, 'In another terminal, in this folder:')
  const lines = devLines({ port: 5433, passwordFile: '/var/my data/postgres-password', isFound: false })
  assert.equal(
    lines[1],
    `  export DATABASE_URL="postgres://postgres:$(cat '/var/my data/postgres-password')@127.0.0.1:5433/lockstep"`,
  )
  assert.equal(lines[3], 'In another terminal, with that DATABASE_URL:')
})
