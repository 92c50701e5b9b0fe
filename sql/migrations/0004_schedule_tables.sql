-- breaking: no · phase: pre · locks: node (a column without default, instant)
-- Schedules and their slots. A slot and its run are one commit; the next slot is computed from the slot, never from a clock.

create table lockstep.schedule (
  name text collate "C" primary key,
  -- A cron expression in a zone, or a fixed interval.
  cron text,
  zone text not null,
  interval_ms bigint,
  -- What it starts: a registered workflow or action.
  target text collate "C" not null,
  input text not null,
  priority int not null default 0,
  -- What to do with slots that nobody was there for: skip | once | all.
  misfire text not null,
  -- What to do while the run before is not over: allow | skip.
  overlap text not null,
  paused boolean not null default false,
  -- The next slot; null: there is none.
  next_at timestamptz,
  last_run uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint schedule_cron_or_interval check ((cron is null) <> (interval_ms is null))
);
create index schedule_due on lockstep.schedule (next_at) where next_at is not null and not paused;

create table lockstep.schedule_slot (
  schedule text collate "C" not null,
  due_at timestamptz not null,
  -- fired | missed | overlapped
  outcome text not null,
  run_id uuid,
  settled_at timestamptz not null,
  primary key (schedule, due_at)
);
create index schedule_slot_age on lockstep.schedule_slot (settled_at);

-- Of node 0: the slot that a schedule started it for.
alter table lockstep.node add column occurrence timestamptz;
