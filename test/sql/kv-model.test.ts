// Random joined calls against the specification in plain code: every answer of every operation, the rising of versions in
// the stated order, and what is left in the end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { kv } from '../../src/operations/kv.ts'
import type { KvAnswer, KvOperation, KvResult, KvRow } from '../../src/protocol/kv.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { judge, type Held, type State, type Verdict } from '../kit/kv-model.ts'

const ns = fc.constantFrom('n', 'm')
const key = fc.constantFrom('a', 'b', 'B', 'ab')
const value = fc.constantFrom('1', '-7', '"x"', 'null', '{"a":"\\u0000"}', '9007199254740993')
const required = fc.boolean()
const ttlSeconds = fc.constantFrom(null, 3_600)
/** Of the version that is there: -1 stands for it and is put in before the call is sent, -2 for one that never was. */
const expect = fc.constantFrom(null, 0, -1, -1, -2)
const small = fc.constantFrom(null, '-3', '0', '4')

const operation: fc.Arbitrary<KvOperation> = fc.oneof(
  fc.record({ op: fc.constant('get' as const), ns, key }),
  fc.record({
    op: fc.constantFrom('put' as const, 'putIfAbsent' as const),
    ns,
    key,
    value,
    ttlSeconds,
    expect,
    required,
  }),
  fc.record({ op: fc.constantFrom('put' as const), ns, key, value, ttlSeconds, expect: fc.constant(null), required }),
  fc.record({ op: fc.constant('delete' as const), ns, key, expect, required }),
  fc.record({
    op: fc.constant('incr' as const),
    ns,
    key,
    delta: fc.constantFrom('1', '-1', '9007199254740993'),
    min: small,
    max: small,
    ttlSeconds,
    required,
  }),
  fc.record({ op: fc.constant('check' as const), ns, key, expect: fc.constantFrom(0, -1, -2), required }),
  fc.record({ op: fc.constant('getMany' as const), ns, keys: fc.uniqueArray(key, { maxLength: 4 }) }),
  fc.record({
    op: fc.constant('getPrefix' as const),
    ns,
    prefix: key,
    limit: fc.constant(100),
    after: fc.constant(null),
    keysOnly: fc.constant(false),
  }),
)
const writes = (one: KvOperation): boolean => !['get', 'getMany', 'getPrefix', 'check'].includes(one.op)
const call = fc.array(operation, { minLength: 1, maxLength: 6 }).map((operations) => {
  const written = new Set<string>()
  return operations.filter((one) => {
    if (!writes(one) || !('key' in one)) return true
    const id = `${one.ns} ${one.key}`
    if (written.has(id)) return false
    written.add(id)
    return true
  })
})
const step = fc.record({
  calls: fc.array(call, { minLength: 1, maxLength: 5 }),
  expire: fc.option(fc.tuple(ns, key), { freq: 3 }),
})

test('every answer of random joined calls is the one that the rules give', async (t) => {
  const own = await createTestDatabase(t)
  const { database } = own
  const admin = await own.connect()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      await admin.query('truncate lockstep.kv')
      let state: State = new Map()
      let highest = 0
      for (const { calls, expire } of steps) {
        if (expire) {
          // Only what has a ttl expires.
          const [space, name] = expire
          if (state.get(`${space}\0${name}`)?.expires === true) state = without(state, `${space}\0${name}`)
          await admin.query(
            `update lockstep.kv set expires_at = lockstep.clock() where ns = $1 and key = $2 and expires_at > lockstep.clock()`,
            [space, name],
          )
        }
        const sent = calls.map((operations) => operations.map((one) => known(one, state)))
        const answers = await kv(database, sent)
        // Reading calls come first, then writing ones, then those that read a prefix beside writes.
        for (const at of orderOf(sent)) {
          const outcome = compare(state, sent[at] ?? [], answers[at], highest)
          state = outcome.state
          highest = outcome.highest
        }
      }
    }),
    { numRuns: 150 },
  )
})

function without(state: State, id: string): State {
  const next = new Map(state)
  next.delete(id)
  return next
}

/** The operation with the version that its key has now. */
function known(one: KvOperation, state: State): KvOperation {
  if (!('expect' in one) || one.expect === null || one.expect >= 0) return one
  if (one.op === 'putIfAbsent') return { ...one, expect: 0 }
  const version = state.get(`${one.ns}\0${one.key}`)?.version ?? 0
  return { ...one, expect: one.expect === -1 ? version : version + 1_000_000 }
}

function orderOf(calls: readonly (readonly KvOperation[])[]): readonly number[] {
  const rank = (operations: readonly KvOperation[]): number => {
    if (operations.every(({ op }) => op === 'get' || op === 'getMany' || op === 'getPrefix')) return 0
    return operations.some(({ op }) => op === 'getPrefix') ? 2 : 1
  }
  return calls.map((_, at) => at).toSorted((a, b) => rank(calls[a] ?? []) - rank(calls[b] ?? []) || a - b)
}

function compare(before: State, operations: readonly KvOperation[], answer: KvAnswer | undefined, highest: number) {
  const judged = judge(before, operations)
  assert.equal(answer?.ok, judged.ok)
  if (!judged.ok || !answer.ok) {
    assert.ok(!judged.ok && !answer.ok)
    const { held } = judged
    // Against a write of its own call, which is undone with it, a loser tells the version that write had drawn.
    const version = held && held.version < 0 ? answer.version : (held?.version ?? 0)
    assert.deepEqual(
      [answer.failedIndex, answer.kvReason, answer.value, answer.version],
      [judged.failedIndex, judged.reason, held?.value ?? null, version],
    )
    return { state: before, highest }
  }
  assert.equal(answer.results.length, operations.length)
  const drawn = new Map<number, number>()
  const same = (held: Held | null | undefined, version: number): void => {
    if (held && held.version < 0) drawn.set(-held.version, drawn.get(-held.version) ?? version)
    assert.equal(version, held ? (drawn.get(-held.version) ?? held.version) : 0)
  }
  for (const [at, verdict] of judged.verdicts.entries()) compareOne(verdict, answer.results[at], same)
  const versions = Array.from({ length: judged.drawn }, (_, n) => drawn.get(n + 1) ?? Number.NaN)
  for (const version of versions) {
    assert.ok(version > highest, `versions ${versions.join()} after ${highest}`)
    highest = version
  }
  const state = new Map(
    [...judged.state].map(([id, held]) => [id, { ...held, version: drawn.get(-held.version) ?? held.version }]),
  )
  return { state, highest }
}

function compareOne(
  verdict: Verdict,
  result: KvResult | undefined,
  same: (held: Held | null, version: number) => void,
) {
  assert.ok(result)
  if (verdict.kind === 'row') {
    assert.ok(result.op === 'get')
    assert.equal(result.found, verdict.held !== null)
    if (result.found) compareRow(verdict.held, result.row, same)
  } else if (verdict.kind === 'rows') {
    assert.ok(result.op === 'getMany' || result.op === 'getPrefix')
    assert.deepEqual(
      result.rows.map((row) => row.key),
      verdict.rows.map(([name]) => name),
    )
    for (const [at, row] of result.rows.entries()) compareRow(verdict.rows[at]?.[1] ?? null, row, same)
    assert.deepEqual(result.op === 'getMany' ? result.missing : [], verdict.missing)
    assert.equal(result.truncated, false)
  } else {
    assert.ok('applied' in result)
    assert.deepEqual([result.applied, result.reason], [verdict.applied, verdict.reason])
    if (result.op !== 'check' || !verdict.applied)
      assert.equal(result.value, result.op === 'delete' && verdict.applied ? null : (verdict.held?.value ?? null))
    same(verdict.held, result.version ?? Number.NaN)
  }
}

function compareRow(held: Held | null, row: KvRow, same: (held: Held | null, version: number) => void): void {
  assert.equal(row.value, held?.value)
  assert.equal(row.expiresAt !== null, held?.expires)
  same(held, row.version)
}
