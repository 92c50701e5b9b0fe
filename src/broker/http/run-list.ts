// Runs over HTTP as a list, newest first, a page at a time.
import { listRuns } from '../../operations/list-runs.ts'
import { integerText, oneOf, optional, readFields, refuse, root, text } from '../../protocol/check.ts'
import type { Field } from '../../protocol/check.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { encodeRunPage } from '../../protocol/run-answers.ts'
import { isUuid } from '../../protocol/uuid.ts'
import { reading } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

interface Before {
  readonly createdAt: string
  readonly runId: string
}

/** As it was answered: the last run of the page before. */
const before: Field<Before> = {
  type: 'the `next` of a page',
  optional: false,
  read(value, place, name) {
    const [createdAt = '', runId = ''] = typeof value === 'string' ? value.split('|') : []
    if (!/^\d{4}-\d\d-\d\dT[\d:.]{8,15}Z$/.test(createdAt) || Number.isNaN(Date.parse(createdAt)) || !isUuid(runId)) {
      refuse(place, name, 'the `next` of a page')
    }
    return { createdAt, runId }
  },
}

const name = text({ min: 1, max: LIMITS.nameBytes, longCode: 'name_too_long' })

const QUERY = {
  workflow: optional(name, null),
  state: optional(oneOf('pending', 'running', 'sleeping', 'compensating', 'completed', 'failed', 'cancelled'), null),
  tag: optional(name, null),
  before: optional(before, null),
  limit: optional(integerText(1, LIMITS.listLimit), LIMITS.listLimitDefault),
} as const

async function list(call: Call): Promise<Answer> {
  const filter = readFields(QUERY, readQuery(call.queryText), root('query '))
  const runs = await reading(call, (db) => listRuns(db, filter))
  const last = runs.length < filter.limit ? undefined : runs.at(-1)
  return json(encodeRunPage(runs, last === undefined ? null : `${last.createdAt}|${last.runId}`))
}

export const runList: Route = {
  method: 'GET',
  path: '/api/v1/runs',
  access: 'read-only',
  rank: 'B',
  changes: false,
  about:
    'Runs, newest first. A state or a tag is looked for among the newest 10,000, of the workflow where one is named. `before` is the `next` of the page before.',
  query: QUERY,
  answers: {
    200: '{"runs":[{"runId":"…","workflow":"…","kind":"job|graph|flow","state":"…","attempt":1,"tags":[],"error":null,"createdAt":"…","finishedAt":null}],"next":"…"}',
  },
  handle: list,
}
