// What the tests of streams share: payments and readings to push, windows to name, and a look at what a queue holds.
import type { Lockstep, Untyped } from 'lockstep'
import type { Case } from './every-way.ts'

export interface Payment {
  readonly account: string
  readonly amount: number
}

/** Every message of a queue so far, as it stands there. */
export async function held({ sql }: Pick<Case, 'sql'>, name: string): Promise<Untyped[]> {
  const rows = await sql(
    `select m.payload, p.name from lockstep.message m
       join lockstep.partition p on p.queue_id = m.queue_id and p.id = m.partition_id
       join lockstep.queue q on q.id = m.queue_id
      where q.name = $1 order by m.created_at, m.partition_id, m."offset"`,
    [name],
  )
  return rows.map((row) => ({ data: JSON.parse(String(row['payload'])), partition: row['name'] }))
}

/** Any order will do, as long as it is one. */
export const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

export const dataOf = (messages: readonly Untyped[]): Untyped[] => messages.map(({ data }) => data)

export async function pay(lockstep: Lockstep, name: string, partition: string, ...payments: Payment[]): Promise<void> {
  await lockstep
    .queue<Payment>(name)
    .partition(partition)
    .push(payments.map((data) => ({ data })))
}

export const MINUTE = 60_000
export const at = (minutes: number): number => Date.UTC(2026, 0, 1) + minutes * MINUTE
export const iso = (minutes: number): string => new Date(at(minutes)).toISOString()

export interface Reading {
  readonly sensor: string
  readonly minute: number
}

export async function read(
  lockstep: Lockstep,
  name: string,
  ...readings: (readonly [string, number])[]
): Promise<void> {
  await lockstep
    .queue<Reading>(name)
    .partition('p')
    .push(readings.map(([sensor, minute]) => ({ data: { sensor, minute } })))
}
