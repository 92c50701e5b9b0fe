// The examination of a database, check by check. Each check answers findings and never throws: what cannot be looked at is a
// finding too, so that one missing right does not hide the rest.

import { type Database, openDatabase } from '../db/pool.ts'
import { examineActivity } from './doctor/examine-activity.ts'
import { examineKeys } from './doctor/examine-keys.ts'
import { examineListen } from './doctor/examine-listen.ts'
import { examineSchema } from './doctor/examine-schema.ts'
import { examineSecurity } from './doctor/examine-security.ts'
import { examineServer } from './doctor/examine-server.ts'
import { examineWorkers } from './doctor/examine-workers.ts'
import { explainError } from './explain-error.ts'

export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly seen: string
  /** What to do, in words or as a command. */
  readonly hint: string | null
}

export type Check = (database: Database) => Promise<readonly Finding[]>

/** `env`: the settings that a broker of this environment would have. */
export async function examine(connectionString: string, env: NodeJS.ProcessEnv): Promise<readonly Finding[]> {
  const database = openDatabase({ connectionString, connections: 2, applicationName: 'lockstep doctor' })
  try {
    const server = await attempt('connection', examineServer, database)
    // Without a connection every further check would say the same.
    const security = await examineSecurity(env)
    if (server.some(({ check, status }) => check === 'connection' && status === 'fail')) return [...server, ...security]
    const schema = await attempt('schema', examineSchema, database)
    const listen = await attempt('listen', examineListen, database)
    const served = schema.every(({ status }) => status === 'ok')
    return [
      ...server,
      ...security,
      ...schema,
      ...listen,
      ...(served ? await attempt('activity', examineActivity, database) : []),
      ...(served ? await attempt('encryption', async (own) => examineKeys(own, env), database) : []),
      ...(served ? await attempt('workers', examineWorkers, database) : []),
    ]
  } finally {
    await database.close()
  }
}

async function attempt(name: string, check: Check, database: Database): Promise<readonly Finding[]> {
  try {
    return await check(database)
  } catch (error) {
    const { message, hint } = explainError(error)
    return [{ check: name, status: 'fail', seen: message, hint: hint === 'lockstep doctor' ? null : hint || null }]
  }
}
