// What goes on: old transactions that keep dead rows alive, forgotten prepared ones, the distance of the clocks, who does
// upkeep, and staged messages and due timers that nobody sees to.

import { sqlText } from '../../db/sql-files.ts'
import type { Database } from '../../db/pool.ts'
import { countStaged } from '../../operations/count-staged.ts'
import { timersLate } from '../../operations/timers-late.ts'
import type { Check, Finding } from '../examine.ts'
import { fail, fine, warn } from './finding.ts'

const DAY = 86_400
/** A firing that finds the queue full is tried again within a minute. */
const LATE_S = 90

export const examineActivity: Check = async (database) => {
  const ask = async (query: string): Promise<readonly (number | null)[]> => {
    const [row = []] = await database.reader.rows(sqlText(`queries/doctor/${query}.sql`), [])
    return row.map((value) => (value === null ? null : Number(value)))
  }
  return [
    ...transactionFindings(await ask('transactions')),
    ...(await clockFinding(ask)),
    ...(await stagedFinding(database)),
    ...timerFinding(await timersLate(database.reader)),
    ...upkeepFinding(await ask('upkeep')),
  ]
}

function transactionFindings(row: readonly (number | null)[]): Finding[] {
  const [oldest, pid, snapshot, prepared, slots, frozen, sees] = row.map((value) => value ?? 0)
  const findings: Finding[] = []
  const age = oldest ?? 0
  if (sees === 0) {
    const seen = 'this role sees only its own: an old one of another role would go unnoticed'
    findings.push(warn('transactions', seen, 'grant pg_read_all_stats to it, or run doctor as another role'))
  } else if (age > 60) {
    const hint = `look at it in pg_stat_activity (pid ${pid ?? 0}); perhaps end it with pg_terminate_backend(${pid ?? 0})`
    const seen = `one has been open for ${age} s (process ${pid ?? 0}): queues slow down while it holds dead rows`
    findings.push(age > DAY ? fail('transactions', seen, hint) : warn('transactions', seen, hint))
  } else findings.push(fine('transactions', age === 0 ? 'none is open' : `the oldest is ${age} s old`))
  if ((snapshot ?? 0) > 10_000_000) {
    findings.push(
      warn(
        'snapshot',
        `one holds rows of the last ${snapshot ?? 0} transactions`,
        'end the session or standby that holds it',
      ),
    )
  }
  if ((prepared ?? 0) > 0) {
    findings.push(
      warn(
        'prepared',
        `${prepared ?? 0} prepared transactions`,
        'find them in pg_prepared_xacts and commit or roll back each',
      ),
    )
  }
  if ((slots ?? 0) > 0) {
    findings.push(
      warn(
        'replication',
        `${slots ?? 0} replication slots that nobody reads keep the log`,
        'drop those that no standby needs with pg_drop_replication_slot(name)',
      ),
    )
  }
  if ((frozen ?? 0) > 1_000_000_000) {
    findings.push(fail('wraparound', `the oldest row is ${frozen ?? 0} transactions old`, 'vacuum (freeze)'))
  }
  return findings
}

type Ask = (query: string) => Promise<readonly (number | null)[]>

async function clockFinding(ask: Ask): Promise<readonly Finding[]> {
  const before = Date.now()
  const [there] = await ask('clock')
  const after = Date.now()
  // Nothing decides by this machine's clock; a person who compares logs does.
  const apart = Math.max(0, before - (there ?? before), (there ?? after) - after)
  if (apart <= 1_000) return [fine('clock', 'agrees with this machine within a second')]
  return [
    warn(
      'clock',
      `differs by ${(apart / 1000).toFixed(1)} s from this machine`,
      'synchronise both with NTP; leases go by the database alone',
    ),
  ]
}

async function stagedFinding(database: Database): Promise<readonly Finding[]> {
  const { messages, queues } = await countStaged(database.reader)
  if (messages < 1_000) {
    return [fine('staged', messages === 0 ? 'nothing waits to be placed' : `${messages} wait to be placed`)]
  }
  const seen = `${messages > 10_000 ? 'more than 10000' : messages} messages of ${queues} queues wait to be placed`
  return [warn('staged', seen, 'start a broker or a consumer: each places what it finds, once a second')]
}

function timerFinding(late: number | null): readonly Finding[] {
  if (late === null || late < LATE_S) return [fine('timers', late === null ? 'none is pending' : 'none is overdue')]
  const hint = 'start a broker or a consumer: each fires what is due; a full queue is told by lockstep timer list'
  return [warn('timers', `the oldest has been due for ${late} s`, hint)]
}

function upkeepFinding(row: readonly (number | null)[]): readonly Finding[] {
  const workers = row[0] ?? 0
  if (workers > 0) return [fine('upkeep', `${workers} connections of brokers or clients are there to do it`)]
  return [
    warn('upkeep', 'no broker and no client is connected: retention, expiry and placing stand still', 'lockstep serve'),
  ]
}
