// What the generated pages must hold: nothing of a header cut off, and every field that the door reads.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTES } from '../../src/broker/http/routes.ts'
import { httpPage } from './http.ts'
import { sqlPage } from './sql-functions.ts'

test('a purpose of several lines is told whole', () => {
  const text = [
    '-- purpose: does one thing, and',
    '--   another one',
    '-- locks in order: none',
    '-- raises: nothing',
    '-- A remark that belongs to no name.',
    '--   indented, and no part of what it raises',
    'create or replace function lockstep.both() returns void',
    'language sql as $$ select 1 $$;',
  ].join('\n')
  const { text: page } = sqlPage([{ path: 'sql/functions/queue/both.sql', text }])
  assert.match(page, /\n\ndoes one thing, and another one\n\n/)
  assert.match(page, /- raises: nothing(\n|$)/)
})

test('every body tells the fields of its items and operations', () => {
  const { text } = httpPage()
  const section = (route: string): string => text.split(`## ${route}\n`)[1]?.split('\n## ')[0] ?? ''
  for (const [route, words] of Object.entries({
    'POST /api/v1/push': ['`items[]`', '`payload`', '`transactionId`'],
    'POST /api/v1/ack/batch': ['`acknowledgments[]`', '`partitionId`'],
    'POST /api/v1/configure': ['`namespace`', '`options`', '`retryLimit`'],
    'POST /api/v1/transaction': ['`kv[] with "op":"check"`', '`runs[]`', '`requiredLeases`'],
    'POST /api/v1/kv': ['`operations[] with "op":"put" or "putIfAbsent"`', '`forever`', '`delta`'],
    'POST /api/v1/locks': ['`operations[] with "op":"renew"`', '`token`'],
    'POST /api/v1/timers': ['`operations[] with "op":"schedule" or "reschedule"`', '`delayMs`'],
  })) {
    for (const word of words) assert.ok(section(route).includes(word), `${route} tells nothing of ${word}`)
  }
  for (const { path, body } of ROUTES)
    if (Array.isArray(body)) assert.ok(body.length > 0, `${path} has a body of no parts`)
})
