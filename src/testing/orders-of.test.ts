// The orders of steps that interleaving tests go through.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ordersOf } from './orders-of.ts'

test('every order of the steps is there once', () => {
  const orders = ordersOf([2, 2, 0])
  assert.deepEqual(orders.length, 6)
  assert.equal(new Set(orders.map((order) => order.join())).size, 6)
  for (const order of orders)
    assert.deepEqual(
      order.toSorted((a, b) => a - b),
      [0, 0, 1, 1],
    )
  assert.equal(ordersOf([3, 3, 3]).length, 1680)
})
