// The border between PostgreSQL's errors and ours: each kind gets its code, and "nothing was committed" is said only when it is so.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERRORS, type ErrorCode } from '../protocol/errors.ts'
import { endsSession, faultOf, isRetryable, sqlstateOf } from './pg-errors.ts'

const pgError = (code: string, fields: Record<string, string> = {}): Error =>
  Object.assign(new Error('as PostgreSQL says'), { code, severity: 'ERROR', ...fields })

const codeOf = (error: unknown, commitSent = false): ErrorCode => faultOf(error, { commitSent }).code

test('every SQLSTATE of our own class becomes the code of the table, with the text of the function', () => {
  for (const [code, { sqlstate }] of Object.entries(ERRORS)) {
    if (sqlstate === null) continue
    const fault = faultOf(pgError(sqlstate, { hint: 'which_part' }), { commitSent: true })
    assert.equal(fault.code, code)
    assert.equal(fault.message, 'as PostgreSQL says')
    assert.deepEqual(fault.details, { sqlstate, reason: 'which_part' })
  }
})

test('advice is told in the message, and is no reason that a program could tell apart', () => {
  const fault = faultOf(pgError('LS404', { hint: 'start a worker that imports it' }), { commitSent: false })
  assert.equal(fault.message, 'as PostgreSQL says: start a worker that imports it')
  assert.deepEqual(fault.details, { sqlstate: 'LS404' })
})

test('the detail of our own error names a finer code', () => {
  assert.equal(codeOf(pgError('LS400', { detail: 'name_too_long' })), 'name_too_long')
  assert.equal(codeOf(pgError('LS400', { detail: 'toString' })), 'bad_request')
})

test('refusals of the server have their codes, and a sent COMMIT changes none of them', () => {
  const expected: readonly (readonly [string, ErrorCode])[] = [
    ['40001', 'busy'],
    ['40P01', 'busy'],
    ['55P03', 'busy'],
    ['57014', 'timeout'],
    ['25P02', 'failed_transaction'],
    ['25006', 'read_only_transaction'],
    ['42883', 'schema_missing'],
    ['3F000', 'schema_missing'],
    ['22021', 'bad_request'],
    ['22012', 'internal'],
  ]
  for (const [sqlstate, code] of expected) {
    assert.equal(codeOf(pgError(sqlstate)), code, sqlstate)
    assert.equal(codeOf(pgError(sqlstate), true), code, sqlstate)
    assert.equal(endsSession(pgError(sqlstate)), false, sqlstate)
  }
})

test('a lost connection is unavailable before the COMMIT was sent and unknown after', () => {
  const losses = [
    Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    new Error('Connection terminated unexpectedly'),
    new Error('connection gave no answer in time'),
    pgError('08006', { severity: 'FATAL' }),
    pgError('08P01', { severity: 'FATAL' }),
    pgError('57P02', { severity: 'FATAL' }),
    pgError('57P01', { severity: 'FATAL', routine: 'something_else' }),
  ]
  for (const loss of losses) {
    assert.equal(codeOf(loss), 'unavailable', String(loss))
    assert.equal(codeOf(loss, true), 'outcome_unknown', String(loss))
    assert.equal(endsSession(loss), true, String(loss))
  }
})

test('a backend that says farewell at a safe point, without a tag before, has committed nothing', () => {
  const farewell = pgError('57P01', { severity: 'FATAL', routine: 'ProcessInterrupts' })
  assert.equal(codeOf(farewell, true), 'unavailable')
  assert.equal(endsSession(farewell), true)
})

test('an unknown error after the COMMIT was sent is never called "nothing committed"', () => {
  assert.equal(codeOf(new TypeError('surprise'), true), 'outcome_unknown')
  assert.equal(codeOf('surprise', true), 'outcome_unknown')
  assert.equal(codeOf(new TypeError('surprise')), 'internal')
})

test('what a server that is full, starting or refusing says is unavailable; a full pool is overload', () => {
  for (const sqlstate of ['53300', '57P03', '28P01', '3D000', '53100']) {
    assert.equal(codeOf(pgError(sqlstate, { severity: 'FATAL' })), 'unavailable', sqlstate)
  }
  assert.equal(codeOf(new Error('timeout exceeded when trying to connect')), 'overloaded')
  assert.equal(codeOf(new Error('Cannot use a pool after calling end on the pool')), 'closed')
})

test('the SQLSTATE is found behind wrapping errors, and a deadlock is known through our own fault', () => {
  const wrapped = new Error('library', { cause: new Error('driver', { cause: pgError('40P01') }) })
  assert.equal(sqlstateOf(wrapped), '40P01')
  assert.ok(isRetryable(faultOf(wrapped, { commitSent: false })))
  assert.ok(!isRetryable(pgError('55P03')))
  assert.equal(sqlstateOf(new Error('none')), null)
})

test('no text of a statement leaves through the message of an unforeseen fault', () => {
  const fault = faultOf(pgError('22P02'), { commitSent: false })
  assert.doesNotMatch(fault.message, /as PostgreSQL says/)
  assert.ok(fault.cause instanceof Error)
})
