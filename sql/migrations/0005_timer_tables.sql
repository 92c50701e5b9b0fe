-- breaking: no · phase: pre · locks: none (new tables)
-- Timers: messages that are pushed when their time has come. Firing one is the removal of its row and its push in one commit.

create table lockstep.timer (
  -- A name, not an id: the queue is made by the push if it is not there then.
  queue_name text collate "C" not null,
  key text collate "C" not null,
  partition_name text collate "C" not null,
  -- What was promised, and when the next attempt is: later than that after one that found the queue full.
  due_at timestamptz not null,
  fire_at timestamptz not null,
  message_id uuid not null,
  transaction_id text not null,
  payload text not null,
  producer_sub text,
  attempts int not null,
  last_error text,
  -- How often it was rescheduled; -1: nothing is scheduled, the row only holds the key until the commit.
  revision int not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (queue_name, key)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
create index timer_due on lockstep.timer (fire_at, queue_name, key);
