// The same of the verbs about runs: a claim and a failure, which say less, are cut in the long run only.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutEverywhere, SIDES } from './cut-everywhere.ts'
import { MORE_RUN_VERBS, RUN_VERBS } from './cut-run-verbs.ts'

const verbs = process.env['LOCKSTEP_LONG'] === '1' ? { ...RUN_VERBS, ...MORE_RUN_VERBS } : RUN_VERBS

for (const [index, [name, verb]] of Object.entries(verbs).entries()) {
  for (const side of SIDES) {
    test(`${name}: cut before each message of the ${side}, the answer is true`, async (t) => {
      assert.ok((await cutEverywhere(t, verb, side, index)) > 0, 'nothing was cut')
    })
  }
}
