// `lockstep audit list`: who deleted, moved or cancelled what.

import { listAudit } from '../../operations/list-audit.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { showTable } from '../show-table.ts'

export const auditList: Command = {
  name: 'audit list',
  summary: 'List destructive calls and who made them.',
  detail:
    'Deletions, seeks, replays, purges and cancellations, newest first; each was noted in the commit that did it.',
  arguments: [],
  options: {
    action: { kind: 'text', value: 'NAME', meaning: 'Only of this kind, such as delete_queue.' },
    actor: { kind: 'text', value: 'NAME', meaning: 'Only by this one.' },
    limit: {
      kind: 'integer',
      value: 'N',
      min: 1,
      max: LIMITS.listLimit,
      meaning: 'Rows at most.',
      fallback: String(LIMITS.listLimitDefault),
    },
    ...DATABASE_OPTIONS,
  },
  examples: ['lockstep audit list', 'lockstep audit list --action delete_queue --json'],
  async run(call) {
    return await withDatabase(call, async (database) => {
      const rows = await listAudit(database.reader, {
        action: call.text('action'),
        actor: call.text('actor'),
        limit: call.integer('limit') ?? LIMITS.listLimitDefault,
      })
      call.output.result({ audit: rows }, () =>
        showTable(
          ['at', 'who', 'action', 'target', 'outcome'],
          rows.map((row) => [row.at, row.actor ?? `role ${row.dbRole}`, row.action, row.target, row.outcome]),
          'Nothing was deleted, moved or cancelled, or it is too long ago.',
        ),
      )
      return 0
    })
  },
}
