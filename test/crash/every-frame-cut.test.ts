// The connection is cut before each single message of a verb's conversation, in either direction. Whatever was cut, the
// answer is true: success only with the effect, "unavailable" only without it, and the effect is there once or not at all.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutEverywhere, SIDES } from './cut-everywhere.ts'
import { VERBS } from './cut-verbs.ts'

for (const [index, [name, verb]] of Object.entries(VERBS).entries()) {
  for (const side of SIDES) {
    test(`${name}: cut before each message of the ${side}, the answer is true`, async (t) => {
      assert.ok((await cutEverywhere(t, verb, side, index)) > 0, 'nothing was cut')
    })
  }
}
