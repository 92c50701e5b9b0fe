// Every row of the limits table from both sides: at the limit it is accepted, one past it it is refused with its code.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { packageRoot } from '../../src/db/sql-files.ts'
import { LIMITS } from '../../src/protocol/limits.ts'
import { LIMIT_CASES, type LimitCase } from './limit-cases.ts'
import { serve } from './served.ts'

const rows = Object.entries<LimitCase>(LIMIT_CASES)
const boundOf = new Map<string, number>(Object.entries(LIMITS))

test('each limit that refuses accepts what reaches it and refuses the next, by its code', async (t) => {
  const served = await serve(t, { upkeep: false })
  const wrong: string[] = []
  let probed = 0
  for (const [name, row] of rows) {
    if (!('probe' in row)) continue
    const bound = boundOf.get(name) ?? 0
    probed += 1
    const at = await row.probe(served, bound)
    const past = await row.probe(served, row.isLeast === true ? bound - 1 : bound + 1)
    // Past the door of a limit a run that nobody registered is not found.
    if ((at !== null && at !== 'not_found' && at !== 'unknown') || past !== row.code)
      wrong.push(`${name} of ${bound}: ${at} at it, ${past} past it, not ${row.code}`)
  }
  t.diagnostic(`${probed} of ${rows.length} limits probed`)
  assert.deepEqual(wrong, [])
})

test('limits whose scene needs a test of its own name one that is there', () => {
  for (const [name, row] of rows) {
    if (!('proved' in row)) continue
    const text = readFileSync(join(packageRoot(), `${row.proved}.test.ts`), 'utf8')
    assert.ok(text.includes(row.by), `${name}: ${row.proved} has no test with the words '${row.by}'`)
  }
})
