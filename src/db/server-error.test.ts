import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serverErrorOf } from './server-error.ts'

const server = Object.assign(new Error('duplicate key'), {
  code: '23505',
  detail: 'Key (id)=(1)',
  severity: 'ERROR',
  routine: 'r',
})

test("the server's error is found under what each library wraps around it", () => {
  for (const wrapped of [
    server,
    new Error('Failed query', { cause: server }),
    new Error('outer', { cause: new Error('inner', { cause: server }) }),
    Object.assign(new Error('query failed'), { driverError: server, code: '23505' }),
    Object.assign(new Error('Raw query failed'), {
      code: 'P2010',
      meta: {
        driverAdapterError: {
          cause: { originalCode: '23505', originalMessage: 'duplicate key', detail: 'Key (id)=(1)' },
        },
      },
    }),
  ]) {
    const found = serverErrorOf(wrapped)
    assert.deepEqual([found?.sqlstate, found?.message, found?.detail], ['23505', 'duplicate key', 'Key (id)=(1)'])
  }
})

test('what is not the server’s has no SQLSTATE', () => {
  for (const other of [
    Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }),
    Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
    Object.assign(new Error('expired'), { code: 'P2028', meta: {} }),
    new Error('plain'),
    'text',
    null,
  ]) {
    assert.equal(serverErrorOf(other), null)
  }
})

test('a circle of causes ends', () => {
  const circle = new Error('round')
  circle.cause = circle
  assert.equal(serverErrorOf(circle), null)
})
