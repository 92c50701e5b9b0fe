import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNodeLine } from './node-line.ts'

test('nodes leave in their order, those that were put first before all others', () => {
  const line = createNodeLine<number>()
  line.put([1, 2, 3])
  assert.equal(line.next(), 1)
  line.putFirst([10, 11])
  line.putFirst([12])
  line.put([4])
  assert.equal(line.size, 6)
  assert.deepEqual([line.next(), line.next(), line.next(), line.next()], [10, 11, 12, 2])
  line.putFirst([13])
  assert.deepEqual(line.empty(), [13, 3, 4])
  assert.deepEqual([line.size, line.next()], [0, null])
  line.put([5])
  assert.deepEqual([line.next(), line.next()], [5, null])
})

test('a line that is never empty loses and repeats nothing as it is filled and emptied', () => {
  const line = createNodeLine<number>()
  const left: (number | null)[] = []
  let put = 0
  line.put([put])
  for (let round = 0; round < 200; round += 1) {
    for (let n = 0; n < (round % 7) + 1; n += 1) line.put([(put += 1)])
    while (line.size > 3) left.push(line.next())
  }
  left.push(...line.empty())
  assert.deepEqual(
    left,
    Array.from({ length: put + 1 }, (_, n) => n),
  )
})
