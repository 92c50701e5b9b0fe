// Faults that were thought of, one or more per law, and the test that must notice each. A fault is a change of text in sql/
// or in the compiled code; `caught` names the test by its file and a part of its name.

export interface PlantedFault {
  readonly law: number
  readonly what: string
  /** Below the checkout: `sql/…`, or `.build/src/…` as compiled. */
  readonly file: string
  readonly from: string
  readonly to: string
  readonly caught: readonly [file: string, name: string]
}

const CORE = 'test/integration/core'
const RACES = 'test/concurrency'
const MODEL = ['test/property/sequential', 'reference model'] as const

export const PLANTED: readonly PlantedFault[] = [
  {
    law: 1,
    what: 'the acks of a step that lost are carried out all the same',
    file: 'sql/functions/transaction/transaction_joined.sql',
    from: `case when v_answer[i.step] is null then i.verdict else 'lost' end`,
    to: 'i.verdict',
    caught: MODEL,
  },
  {
    law: 2,
    what: 'a staged push gives its offset at once, under the lock of its partition',
    file: 'sql/functions/queue/stage.sql',
    from: 'from lockstep._stage(',
    to: 'from lockstep.push_joined(',
    caught: [`${RACES}/staged-pushes`, 'an open staged push to a queue'],
  },
  {
    law: 2,
    what: "staging notifies inside the user's transaction",
    file: 'sql/functions/queue/_stage.sql',
    from: '  return query\n',
    to: `  perform pg_notify('lockstep', '');\n  return query\n`,
    caught: [`${CORE}/users-transaction`, 'tells nobody before the commit'],
  },
  {
    law: 3,
    what: 'a push takes no lock on its partition',
    file: 'sql/functions/queue/_lock_partitions.sql',
    from: 'order by p.id for no key update',
    to: 'order by p.id',
    caught: [`${CORE}/writers`, 'sixteen writers'],
  },
  {
    law: 3,
    what: 'staged pushes are placed in no order',
    file: 'sql/functions/queue/_place.sql',
    from: 'partition by j.partition_id order by j.seq',
    to: 'partition by j.partition_id order by j.seq desc',
    caught: [`${RACES}/staged-pushes`, 'an open staged push to a queue'],
  },
  {
    law: 4,
    what: 'the token of an ack is not looked at',
    file: 'sql/functions/lane/_judge_acks.sql',
    from: 'when i.lease is not null and not coalesce(l.lease_id = i.lease and l.lease_expires_at > p_now, false)',
    to: 'when false',
    caught: [`${CORE}/leases`, 'a worker that lost its lease'],
  },
  {
    law: 4,
    what: 'a step that lost its lease pushes all the same',
    file: 'sql/functions/transaction/_append_steps.sql',
    from: 'select case when p_answer[i.step] is null then i.target end',
    to: 'select i.target',
    caught: ['test/property/concurrent', 'after any concurrent history'],
  },
  {
    law: 4,
    what: 'the end of a lease is judged by the time at which the statement began',
    file: 'sql/functions/group/ack_joined.sql',
    from: 'v_now := lockstep.clock();',
    to: 'v_now := pg_catalog.statement_timestamp();',
    caught: [`${RACES}/claim-cost`, 'ack: a lease that ends while'],
  },
  {
    law: 4,
    what: 'a lapsed lease is extended',
    file: 'sql/functions/group/extend.sql',
    from: 'and l.lease_expires_at > v_now',
    to: '',
    caught: [`${CORE}/leases`, 'a lapsed lease is not brought back'],
  },
  {
    law: 5,
    what: 'the clock stands still inside a transaction',
    file: 'sql/functions/clock/clock.sql',
    from: 'pg_catalog.clock_timestamp()',
    to: 'pg_catalog.now()',
    caught: [`${CORE}/users-transaction`, 'the clock moves inside a transaction'],
  },
  {
    law: 6,
    what: 'COMMIT is believed without its tag',
    file: '.build/src/db/transaction.js',
    from: `if (tag !== 'COMMIT')`,
    to: 'if (false)',
    caught: ['src/db/transaction', 'ends as not committed, never as success'],
  },
  {
    law: 7,
    what: 'a version that does not hold is no loss',
    file: 'sql/functions/kv/_kv_judge.sql',
    from: `when v_expect > 0 and v_expect <> v_version[s] then 'version' end`,
    to: 'end',
    caught: MODEL,
  },
  {
    law: 8,
    what: 'a batch whose lease lapses is buried at its head, whoever killed the worker',
    file: 'sql/functions/lane/_judge_lapse.sql',
    from: 'if v_lane.crashes > p_queue.crash_limit and not v_wide then',
    to: 'if v_lane.crashes > p_queue.crash_limit then',
    caught: [`${CORE}/leases`, 'the lapse of a batch charges no single message'],
  },
  {
    law: 8,
    what: 'a batch is never narrowed to one message',
    file: 'sql/functions/lane/_judge_lapse.sql',
    from: 'if v_wide and p_lane.crashes',
    to: 'if false and p_lane.crashes',
    caught: [`${CORE}/leases`, 'only the message that kills its worker'],
  },
  {
    law: 9,
    what: 'a seek of a group leaves its old lanes and leases in reach',
    file: 'sql/functions/group/seek_group.sql',
    from: 'set id = v_group_id, starts_at',
    to: 'set starts_at',
    caught: [`${CORE}/replay`, 'a seek of the group voids'],
  },
  {
    law: 10,
    what: 'payloads are read and printed again',
    file: 'sql/functions/queue/_append.sql',
    from: 'i.hash, i.payload, i.trace',
    to: 'i.hash, i.payload::json::jsonb::text, i.trace',
    caught: [`${CORE}/dead-letters`, 'bodies of one id are compared as bytes'],
  },
  {
    law: 10,
    what: 'a stored id is not remembered',
    file: 'sql/functions/queue/_append.sql',
    from: 'and k.created_at > v_now - make_interval(secs => v_window)',
    to: 'and false',
    caught: [`${CORE}/dead-letters`, 'a step that rolled back remembers no id'],
  },
  {
    law: 11,
    what: 'one visit places all that is staged',
    file: 'sql/functions/queue/_place_before_push.sql',
    from: 'v_staged, 1000)',
    to: 'v_staged, 1000000)',
    caught: [`${CORE}/users-transaction`, 'a plain push behind more staged ones'],
  },
  {
    law: 12,
    what: 'a push wakes nobody',
    file: 'sql/functions/queue/_append.sql',
    from: '  perform lockstep._wake(p_queue_id, v_ids, v_now);\n',
    to: '',
    caught: [`${RACES}/wake-ups`, 'a push that waits for the ack'],
  },
  {
    law: 12,
    what: 'a lane is cleared without the lock of its partition',
    file: 'sql/functions/lane/_advance.sql',
    from: '         for no key update skip locked);',
    to: ');',
    caught: [`${RACES}/wake-ups`, 'a push that waits for the ack'],
  },
  {
    law: 12,
    what: 'the floor of the next look is too high',
    file: 'sql/functions/group/pop_joined.sql',
    from: `v_now) - interval '1 second'`,
    to: `v_now) + interval '1 hour'`,
    caught: MODEL,
  },
  {
    law: 12,
    what: 'verbs run under a snapshot that is older than their locks',
    file: 'sql/functions/clock/_demand_read_committed.sql',
    from: `if current_setting('transaction_isolation') <> 'read committed' then`,
    to: 'if false then',
    caught: [`${RACES}/wake-ups`, 'refuses to run under an older snapshot'],
  },
  {
    law: 12,
    what: 'a partition is born without a lock on its queue, beside a group that is registered',
    file: 'sql/functions/queue/_open_partitions.sql',
    from: 'and q.deleted_at is null for key share',
    to: 'and q.deleted_at is null',
    caught: [`${RACES}/new-groups`, 'a group registered while a partition is born'],
  },
  {
    law: 12,
    what: 'lanes are woken queue by queue, without having been locked in one order',
    file: 'sql/functions/queue/push_joined.sql',
    from: `    perform lockstep._lock_woken(v_ids, v_partitions, '{}', '{}', '{}');\n`,
    to: '    null;\n',
    caught: [`${RACES}/lock-order`, 'an ack over two queues'],
  },
]
