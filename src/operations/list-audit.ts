// Lists destructive calls, newest first.
import type { Executor } from '../db/executor.ts'
import type { AuditFilter, AuditRow } from '../protocol/audit.ts'
import { LIMITS } from '../protocol/limits.ts'

const LIST = 'select * from lockstep.list_audit($1, $2, $3::timestamptz, $4::timestamptz, $5::int, $6::uuid)'

export async function listAudit(db: Executor, filter: Partial<AuditFilter> = {}): Promise<readonly AuditRow[]> {
  const { action = null, actor = null, from = null, to = null, before = null } = filter
  const limit = Math.min(filter.limit ?? LIMITS.listLimitDefault, LIMITS.listLimit)
  const rows = await db.rows(LIST, [action, actor, from, to, String(limit), before])
  return rows.map((row) => ({
    id: row[0] ?? '',
    at: row[1] ?? '',
    actor: row[2] ?? null,
    dbRole: row[3] ?? '',
    action: row[4] ?? '',
    target: row[5] ?? '{}',
    outcome: row[6] ?? '{}',
    requestId: row[7] ?? null,
  }))
}
