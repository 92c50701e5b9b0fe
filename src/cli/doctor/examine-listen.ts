// LISTEN: a notification sent on one connection must arrive on another. Behind a transaction pooler it does not; then every
// wait falls back to looking, which is slower and never wrong.

import { randomBytes } from 'node:crypto'
import type { Client } from 'pg'
import { ownSession } from '../../db/own-session.ts'
import type { Check } from '../examine.ts'
import { fine, warn } from './finding.ts'

const WAIT_MS = 2_000

export const examineListen: Check = async (database) => {
  const { Client: Connection } = await import('pg')
  const listener = new Connection(database.direct)
  listener.on('error', () => {})
  const channel = `lockstep_doctor_${randomBytes(6).toString('hex')}`
  try {
    await listener.connect()
    if (!(await ownSession(listener)))
      return [
        warn(
          'listen',
          'a pooler stands between: waiting consumers wake up by looking',
          'give brokers and workers a connection straight to PostgreSQL, or live with the slower wake-ups',
        ),
      ]
    await listener.query(`listen ${channel}`)
    const began = performance.now()
    const arrived = arrival(listener, channel)
    const sender = await database.checkOut()
    try {
      await sender.client.query(`notify ${channel}`)
    } finally {
      sender.release()
    }
    if (await arrived) return [fine('listen', `a notification took ${(performance.now() - began).toFixed(0)} ms`)]
    return [
      warn(
        'listen',
        `no notification arrived within ${WAIT_MS / 1000} s: waiting consumers wake up by looking`,
        'give brokers a connection that does not go through a transaction pooler',
      ),
    ]
  } finally {
    await listener.end().catch(() => {})
  }
}

function arrival(listener: Client, channel: string): Promise<boolean> {
  return new Promise((done) => {
    const timer = setTimeout(() => done(false), WAIT_MS)
    listener.on('notification', (message) => {
      if (message.channel !== channel) return
      clearTimeout(timer)
      done(true)
    })
  })
}
