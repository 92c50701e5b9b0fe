// GET /audit: destructive calls as they were noted in their own commits. It can only be read here.
import { listAudit } from '../../operations/list-audit.ts'
import type { AuditRow } from '../../protocol/audit.ts'
import { integerText, optional, readFields, root, text } from '../../protocol/check.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { instant } from '../../protocol/pop-request.ts'
import { reading } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const QUERY = {
  action: optional(text({ min: 1, max: LIMITS.nameBytes }), null),
  actor: optional(text({ min: 1, max: LIMITS.subjectBytes }), null),
  from: optional(instant, null),
  to: optional(instant, null),
  limit: optional(integerText(1, LIMITS.listLimit), LIMITS.listLimitDefault),
  before: optional(text({ max: 36, rule: (id) => (UUID.test(id) ? null : 'the id of a row') }), null),
} as const

async function list(call: Call): Promise<Answer> {
  const filter = readFields(QUERY, readQuery(call.queryText), root())
  const rows = await reading(call, (db) => listAudit(db, filter))
  return json(`{"audit":[${rows.map(rowText).join(',')}]}`)
}

function rowText({ target, outcome, ...row }: AuditRow): string {
  return `${JSON.stringify(row).slice(0, -1)},"target":${target},"outcome":${outcome}}`
}

export const auditRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/v1/audit',
    access: 'admin',
    rank: 'B',
    changes: false,
    about:
      'Destructive calls, newest first: deletions, seeks, replays, purges and cancellations, with who made them, noted in the same commit.',
    query: QUERY,
    answers: {
      200: '{"audit":[{"id":"…","at":"…","actor":"…","dbRole":"…","action":"delete_queue","requestId":"…","target":{"queue":"…"},"outcome":{"deleted":true}}]}',
    },
    handle: list,
  },
]
