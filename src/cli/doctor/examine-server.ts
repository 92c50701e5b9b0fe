// The server itself: reachable, of a served version, UTF8, writable, and without settings that would surprise an application.

import { sqlText } from '../../db/sql-files.ts'
import type { Check, Finding } from '../examine.ts'
import { fail, fine, warn } from './finding.ts'

export const examineServer: Check = async (database) => {
  const began = performance.now()
  const [row = []] = await database.reader.rows(sqlText('queries/doctor/server.sql'), [])
  const elapsed = performance.now() - began
  const [number, version, name, role, encoding, recovery, isolation, readOnly, fsync, autovacuum, connections] = row
  const major = Math.floor(Number(number) / 10_000)
  const findings: Finding[] = [
    fine('connection', `database ${name ?? ''} as ${role ?? ''}, ${elapsed.toFixed(0)} ms with its connection`),
  ]

  if (major < 14) findings.push(fail('version', `PostgreSQL ${version ?? ''} is too old`, 'use PostgreSQL 14 to 18'))
  else if (major > 18)
    findings.push(warn('version', `PostgreSQL ${version ?? ''} is newer than any tried`, 'tried are 14 to 18'))
  else findings.push(fine('version', `PostgreSQL ${version ?? ''}`))

  if (encoding === 'UTF8') findings.push(fine('encoding', 'UTF8'))
  else
    findings.push(
      fail(
        'encoding',
        `the database is in ${encoding ?? ''}`,
        "make the database with: encoding 'UTF8' template template0",
      ),
    )

  if (recovery === 't')
    findings.push(fail('writable', 'this is a standby: nothing can be written', 'name the primary in DATABASE_URL'))
  else if (readOnly === 'on') {
    findings.push(
      warn(
        'writable',
        'default_transaction_read_only is on: applications that join their own transactions are refused',
        'reset default_transaction_read_only for the role or database that has it',
      ),
    )
  } else findings.push(fine('writable', 'yes'))

  if (isolation === 'read committed') findings.push(fine('isolation', 'read committed by default'))
  else {
    findings.push(
      warn(
        'isolation',
        `default_transaction_isolation is ${isolation ?? ''}: ack and pop inside your own transactions are refused there`,
        'begin those transactions with: begin isolation level read committed',
      ),
    )
  }

  if (fsync === 'on') findings.push(fine('durability', 'fsync is on'))
  else
    findings.push(
      fail(
        'durability',
        'fsync is off: a crash of the machine loses or corrupts data',
        'set fsync = on in postgresql.conf and reload',
      ),
    )
  if (autovacuum === 'on') findings.push(fine('autovacuum', 'on'))
  else
    findings.push(
      fail(
        'autovacuum',
        'off: queues slow down as dead rows pile up',
        'set autovacuum = on in postgresql.conf and reload',
      ),
    )
  if (Number(connections) < 30) {
    findings.push(
      warn(
        'connections',
        `max_connections is ${connections ?? ''}`,
        'each broker takes 10 or more; raise it, or give brokers fewer',
      ),
    )
  }
  return findings
}
