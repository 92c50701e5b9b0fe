import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { LIMITS } from '../../protocol/limits.ts'
import { action } from './action.ts'
import { definitionIn } from './definition.ts'
import { planNode } from './plan-node.ts'
import { workflow } from './workflow.ts'

const each = action({ name: 'each', input: z.number() }, (_ctx, n) => n)
const base = workflow({ name: 'large', input: z.number() })

test('a graph has a thousand nodes at most', () => {
  // Past the types: one that grows with a thousand nodes is nothing to wait for.
  let grown: unknown = base
  const more = (name: string): void => {
    const node: unknown = Reflect.get(Object(grown), 'node')
    assert.ok(typeof node === 'function')
    grown = Reflect.apply(node, grown, [name, each, () => 0])
  }
  for (let n = 0; n < LIMITS.graphNodes; n++) more(`n${n}`)
  assert.throws(() => more('past'), /a graph has at most 1000 nodes/)
})

test('a map has ten thousand items at most', async () => {
  const mapped = async (count: number): Promise<unknown> => {
    const graph = base.map('all', each, () => Array.from({ length: count }, (_, n) => ({ key: `k${n}`, input: n })))
    const definition = definitionIn(graph)
    assert.ok(definition.kind === 'graph')
    const [node] = definition.nodes
    assert.ok(node)
    const planned = await planNode(definition, node, { input: 1, outputs: {} })
    return planned.outcome === 'map' ? planned.items.length : planned.outcome
  }
  assert.equal(await mapped(LIMITS.mapItems), LIMITS.mapItems)
  await assert.rejects(mapped(LIMITS.mapItems + 1), /maps more than 10000 items/)
})
