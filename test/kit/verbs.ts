// Every verb that touches the queue, the groups or the state, as one step of a session in a small world where they all want
// the same rows: one leased lane, one drained group, one staged push, one cut log, one dead letter, one key, one
// timer, one lock. Each tells the names it pushed.
import { ack } from '../../src/operations/ack.ts'
import { extend } from '../../src/operations/extend.ts'
import { kv } from '../../src/operations/kv.ts'
import { locks } from '../../src/operations/locks.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { release } from '../../src/operations/release.ts'
import { registerStream } from '../../src/operations/register-stream.ts'
import { stage } from '../../src/operations/stage.ts'
import { streamClaim } from '../../src/operations/stream-claim.ts'
import { streamCycle } from '../../src/operations/stream-cycle.ts'
import { timers } from '../../src/operations/timers.ts'
import { transactionIn } from '../../src/operations/transaction-in.ts'
import { transaction } from '../../src/operations/transaction.ts'
import { lockGuard } from '../../src/protocol/lock.ts'
import type { Delivery, PushItem } from '../../src/protocol/message.ts'
import type { TestDatabase } from '../../src/testing/database.ts'
import type { Actor } from './actor.ts'
import { openActor } from './actor.ts'
import { byPartition, drain } from './drain.ts'
import { ackOf, cancelOf, item, popOf, putOf, stepOf, scheduleOf } from './speech.ts'

export interface World {
  readonly queue: string
  readonly key: string
  /** Of a lock that is held, called as the queue. */
  readonly token: number
  /** Leased by group g: the first two of p1's three messages. */
  readonly leased: readonly Delivery[]
  /** Consumed by group h, whose lanes are drained. */
  readonly past: readonly Delivery[]
}

/**
 * p0: o1, that retention has cut off; p1: m1 m2 m3, p2: n1 n2, and s1 staged for p3, a partition that is not there yet. A dead letter
 * is older than its queue keeps them.
 */
export async function makeWorld(own: TestDatabase, nth: number): Promise<World> {
  const queue = `world${nth}`
  const names = { p0: ['o1'], p1: ['m1', 'm2', 'm3'], p2: ['n1', 'n2'] }
  await noteTheGone(own)
  await push(
    own.database,
    Object.entries(names).flatMap(([partition, ids]) => ids.map((name) => item(queue, partition, name))),
  )
  // Backing off would hide messages from the drain at the end; redelivery at once does not.
  await own.database.pool.query('update lockstep.queue set retry_delay_ms = 0 where name = $1', [queue])
  await own.database.pool.query(CUT_AND_BURY, [queue])
  const past = await drain(own, queue, 'h')
  const { answers } = await pop(own.database, popOf(queue, 'g', { batch: 2, partition: 'p1' }))
  await kv(own.database, [[putOf('world', queue, '1')]])
  await stageAlone(own, [item(queue, 'p3', 's1')])
  // Due at once: whoever fires it pushes f1 to p1.
  await timers(own.database, [[scheduleOf(queue, 'due', { partition: 'p1', transactionId: 'f1' })]])
  const [[held] = []] = await locks(own.database, [[{ ...LOCK, name: queue }]])
  const token = held?.op === 'acquire' && held.done ? held.token : 0
  return { queue, key: queue, token, leased: answers[0] ?? [], past }
}

const CUT_AND_BURY = `
  with aged as (
    update lockstep.queue set dead_letter_retention_seconds = 60 where name = $1 returning id
  ), cut as (
    select lockstep._cut_partitions(p.queue_id, array[p.id], lockstep.clock(), null, null)
      from aged a join lockstep.partition p on p.queue_id = a.id and p.name = 'p0'
  )
  insert into lockstep.dead_letter (queue_id, id, partition_id, partition_name, group_name, message_id, transaction_id, tx_hash,
         payload, cause, error, failures, crashes, created_at, failed_at)
  select p.queue_id, gen_random_uuid(), p.id, 'p0', 'h', gen_random_uuid(), 'd1', lockstep.tx_hash(p.id, 'd1'), '"d1"', 'forced', '', 0,
         0, lockstep.clock() - interval '1 hour', lockstep.clock() - interval '1 hour'
    from cut cross join aged a join lockstep.partition p on p.queue_id = a.id and p.name = 'p0'`

const noted = new WeakSet<TestDatabase>()

/** What is deleted is written down beside it; what earlier worlds had cut is out of this one's way. */
async function noteTheGone(own: TestDatabase): Promise<void> {
  const { pool } = own.database
  if (!noted.has(own)) {
    noted.add(own)
    await pool.query(`create table public.gone (queue_id int, partition_id bigint, at bigint, name text);
      create function public.note_gone() returns trigger language plpgsql as $$
      begin insert into public.gone values (old.queue_id, old.partition_id, old."offset", old.transaction_id); return old; end $$;
      create trigger note_gone after delete on lockstep.message for each row execute function public.note_gone()`)
  }
  await pool.query('select lockstep.remove_cut()')
}

const users = new WeakMap<TestDatabase, Promise<Actor>>()

/** A user's transaction that stages and commits at once. */
export async function stageAlone(own: TestDatabase, items: readonly PushItem[]): Promise<void> {
  let user = users.get(own)
  if (user === undefined) {
    user = openActor(own, 'user')
    users.set(own, user)
  }
  await stage((await user).door, items)
}

const LOCK = { op: 'acquire', ttlSeconds: 300, owner: 'me', limit: 1 } as const

export const FIRST_NAMES = ['o1', 'm1', 'm2', 'm3', 'n1', 'n2', 's1']

let given = 0
const names = (count: number): readonly string[] => Array.from({ length: count }, () => `x${(given += 1)}`)

/** Runs the verb inside the actor's open transaction; gives the names that exist when that transaction commits. */
export type Verb = (actor: Actor, world: World) => Promise<readonly string[]>

export const VERBS: Readonly<Record<string, Verb>> = {
  'push to both partitions': ({ db }, { queue }) => pushed(db, queue, ['p2', 'p1']),
  'push to a new partition': ({ db }, { queue }) => pushed(db, queue, ['p9']),
  'staged push': async ({ door }, { queue }) => {
    const [a = '', b = ''] = names(2)
    await stage(door, [item(queue, 'p1', a), item(queue, 'p9', b)])
    return [a, b]
  },
  'wildcard pop': ({ db }, { queue }) => nothing(pop(db, popOf(queue, 'g'))),
  'pop of a partition': ({ db }, { queue }) => nothing(pop(db, popOf(queue, 'g', { partition: 'p1' }))),
  'pop by a drained group': ({ db }, { queue }) => nothing(pop(db, popOf(queue, 'h', { autoAck: true }))),
  'pop by a conflating group': ({ db }, { queue }) => nothing(pop(db, popOf(queue, 'newest', { conflation: true }))),
  'first pop of a new group': ({ db }, { queue }) => nothing(pop(db, popOf(queue, 'new'))),
  ack: ({ db }, { leased }) => nothing(ack(db, [leased.map((one) => ackOf(one))])),
  'failed ack': ({ db }, { leased }) => nothing(ack(db, [leased.slice(0, 1).map((one) => ackOf(one, 'failed'))])),
  'dead-letter ack': ({ db }, { leased }) => nothing(ack(db, [leased.slice(0, 1).map((one) => ackOf(one, 'dlq'))])),
  'unfenced repeated ack': ({ db }, { past }) =>
    nothing(ack(db, [past.map((one) => ackOf(one, 'completed', { leaseId: null }))])),
  extend: ({ db }, { leased }) => nothing(extend(db, leaseOf(leased), 300)),
  release: ({ db }, { leased }) => nothing(release(db, leaseOf(leased))),
  transaction: async ({ db }, { queue, key, leased, token }) => {
    const [a = '', b = ''] = names(2)
    const step = stepOf({
      acks: leased.map((one) => ackOf(one)),
      pushes: [item(queue, 'p2', a), item(queue, 'p9', b)],
      kv: [putOf('world', key, '2'), guardOf(queue, token)],
      timers: [scheduleOf(queue, 'later', LATER), cancelOf(queue, 'due')],
      requestId: a,
    })
    const [result] = await transaction(db, [step])
    return result !== undefined && result !== 'deferred' && result.success ? [a, b] : []
  },
  "transaction in a user's": async ({ door }, { queue, key, leased }) => {
    const [a = '', b = ''] = names(2)
    const step = stepOf({
      acks: leased.map((one) => ackOf(one)),
      pushes: [item(queue, 'p1', a), item(queue, 'p2', b)],
      kv: [putOf('world', key, '3')],
      timers: [cancelOf(queue, 'later'), scheduleOf(queue, 'new', LATER)],
    })
    return (await transactionIn(door, step)).success ? [a, b] : []
  },
  'stream cycle': async ({ db }, { queue, leased }) => {
    const [a = ''] = names(1)
    const { queryId } = await registerStream(db, {
      name: queue,
      sourceQueue: queue,
      sinkQueue: null,
      configHash: 'h',
      reset: false,
    })
    const result = await streamCycle(db, {
      queryId: Number(queryId),
      partitionId: leased[0]?.partitionId ?? '',
      group: 'g',
      state: [{ key: 'seen', value: '1', windowEnd: null }],
      pushes: [item(queue, 'p2', a)],
      ack: { leaseId: leaseOf(leased), status: 'completed', count: 1 },
      releaseLease: false,
    })
    return result.success ? [a] : []
  },
  timers: ({ db }, { queue }) =>
    nothing(timers(db, [[scheduleOf(queue, 'later', LATER), cancelOf(queue, 'due'), cancelOf(queue, 'none')]])),
  'firing of timers': async ({ sql }, { queue }) => {
    const [row] = await sql(`select lockstep.fire_timers($1, '{due,later}')`, [queue])
    return row?.[0] === '1' ? ['f1'] : []
  },
  locks: ({ db }, { queue, token }) =>
    nothing(
      locks(db, [
        [
          { op: 'renew', name: queue, token, slot: 0, owner: 'me', ttlSeconds: 300 },
          { ...LOCK, name: `${queue}!`, limit: 2, owner: null },
        ],
      ]),
    ),
  'stream claim': async ({ db }, { queue, past, leased }) => {
    const { queryId } = await registerStream(db, {
      name: queue,
      sourceQueue: queue,
      sinkQueue: null,
      configHash: 'h',
      reset: false,
    })
    const partitionIds = [...new Set([...past, ...leased].map((message) => message.partitionId))]
    const claimed = await streamClaim(db, { queryId: Number(queryId), partitionIds, group: 'h', leaseSeconds: 30 })
    return nothing(release(db, claimed?.leaseId ?? ''))
  },
  'key/value': ({ db }, { key }) => nothing(kv(db, [[putOf('world', key, '4')]])),
  'seek of the group': ({ sql }, { queue }) =>
    nothing(sql(`select lockstep.seek_group($1, 'g', '-infinity')`, [queue])),
  'seek of a partition': ({ sql }, { queue }) =>
    nothing(sql(`select lockstep.seek_partition($1, 'g', 'p1', '-infinity')`, [queue])),
  'change of an option': ({ sql }, { queue }) =>
    nothing(sql(`select lockstep.configure($1, '{"leaseTime": 30}')`, [queue])),
  'redrive of dead letters': async ({ sql }, { queue }) => {
    await sql('select lockstep.redrive_dead_letters($1)', [queue])
    // Copies are called after their letters: those that this transaction has staged.
    const mine = `select transaction_id from lockstep.staged where queue_name = $1 and xmin = pg_current_xact_id()::xid`
    return (await sql(mine, [queue])).map(([name]) => name ?? '')
  },
  'expiry of dead letters': ({ sql }, { queue }) =>
    nothing(
      sql(
        `select lockstep.expire_dead_letters(q.id - 1) from lockstep.queue q where q.name = $1 and q.deleted_at is null`,
        [queue],
      ),
    ),
  'removal of what was cut': ({ sql }) => nothing(sql('select lockstep.remove_cut()')),
  'placement by upkeep': ({ sql }, { queue }) =>
    nothing(sql('select * from lockstep.place_staged($1)', [queue.slice(0, -1)])),
  // As a walk does that lets go of what every group has passed, however young.
  'walk of retention': ({ sql }, { queue }) =>
    nothing(
      sql(
        `select lockstep._cut_partitions(q.id, array(select p.id from lockstep.partition p where p.queue_id = q.id order by p.id),
                null, null, lockstep.clock()) from lockstep.queue q where q.name = $1 and q.deleted_at is null`,
        [queue],
      ),
    ),
  'removal of lost lanes': ({ sql }, { queue }) =>
    nothing(sql(`select lockstep.remove_lanes(min(id) - 1) from lockstep.queue where name = $1`, [queue])),
  'removal of deleted queues': ({ sql }) => nothing(sql('select lockstep.remove_queue()')),
  'deletion of the group': ({ sql }, { queue }) => nothing(sql(`select lockstep.delete_group($1, 'g')`, [queue])),
  'deletion of the queue': ({ sql }, { queue }) => nothing(sql('select lockstep.delete_queue($1)', [queue])),
}

const LATER = { delayMs: 86_400_000 }
const guardOf = (name: string, token: number) => ({ ...lockGuard(name, 0, token), required: false })

async function pushed(db: Actor['db'], queue: string, partitions: readonly string[]): Promise<readonly string[]> {
  const fresh = names(partitions.length)
  await push(
    db,
    partitions.map((partition, at) => item(queue, partition, fresh[at] ?? null)),
  )
  return fresh
}

async function nothing(work: Promise<unknown>): Promise<readonly string[]> {
  await work
  return []
}

const leaseOf = (leased: readonly Delivery[]): string => leased[0]?.leaseId ?? ''

/** What retention has let go, by partition, in the order of the log. */
export async function letGo(own: TestDatabase, queue: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const gone: Record<string, string[]> = {}
  const { rows } = await own.database.pool.query<{ partition: string; name: string }>(
    `select p.name as partition, m.name from lockstep.queue q
       join lockstep.partition p on p.queue_id = q.id
      cross join lateral (
        select k.transaction_id as name, k."offset" as at from lockstep.message k
         where k.queue_id = q.id and k.partition_id = p.id and k."offset" < p.log_start
        union all select g.name, g.at from public.gone g where g.queue_id = q.id and g.partition_id = p.id) m
      where q.name = $1 and q.deleted_at is null order by p.id, m.at`,
    [queue],
  )
  for (const { partition, name } of rows) (gone[partition] ??= []).push(name)
  return gone
}

/** Ends every lease, then lets each group that there is consume all it can reach; gives what `judge`, a new group, saw. */
export async function settle(own: TestDatabase, queue: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const { pool } = own.database
  await pool.query(
    `select lockstep.release(l.lease_id) from lockstep.lane l join lockstep.queue q on q.id = l.queue_id
      where q.name = $1 and l.lease_id is not null`,
    [queue],
  )
  const groups = await pool.query<{ name: string }>(
    `select g.name from lockstep.consumer_group g join lockstep.queue q on q.id = g.queue_id
      where q.name = $1 and q.deleted_at is null`,
    [queue],
  )
  for (const { name } of groups.rows) await drain(own, queue, name)
  const seen = await drain(own, queue, 'judge')
  return byPartition(seen)
}
