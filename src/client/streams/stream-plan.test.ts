// The shape that guards a stream's state: the same for the same state, another for another, whatever does not touch it left out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queue } from '../queue-definition.ts'
import { shapeOf, type StreamPlan } from './stream-plan.ts'

const plain: StreamPlan = {
  name: 's',
  version: '',
  source: queue('in'),
  before: [],
  key: null,
  gate: null,
  window: null,
  folding: null,
  after: [],
  sink: null,
}
const folding = { start: () => 0, add: () => 0, result: () => ({}), shape: [['seen', 'count']] }
const window = { kind: 'fixed', sizeMs: 60_000, everyMs: 60_000, graceMs: 0, time: null, late: 'next' } as const

test('a shape names what state depends on, and is readable', () => {
  assert.equal(shapeOf(plain), '{"source":"in","keyed":false}')
  assert.equal(
    shapeOf({ ...plain, version: '2', key: () => 'k', window, folding }),
    '{"source":"in","version":"2","keyed":true,"fixed":[60000,60000],"folding":[["seen","count"]]}',
  )
  const other = {
    ...plain,
    name: 't',
    before: [async () => []],
    after: [async () => []],
    sink: { definition: queue('out'), partition: null },
  }
  assert.equal(shapeOf(other), shapeOf(plain), 'operators and the sink remember nothing')
  assert.equal(shapeOf({ ...plain, window: { ...window, graceMs: 9, late: 'drop' } }), shapeOf({ ...plain, window }))
})

test('a shape that is too long for a registration is told by its digest', () => {
  const long = (n: number): StreamPlan => ({
    ...plain,
    source: queue('ü'.repeat(250)),
    folding: { ...folding, shape: n },
  })
  assert.match(shapeOf(long(1)), /^fnv1a:[0-9a-f]{16}$/)
  assert.equal(shapeOf(long(1)), shapeOf(long(1)))
  assert.notEqual(shapeOf(long(1)), shapeOf(long(2)))
})
