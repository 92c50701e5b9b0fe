-- breaking: no · phase: pre · locks: none (new tables)
-- Traces: what applications note about a message's way, kept for a week. They are not checked against messages.

create table lockstep.trace (
  -- As the caller named it: the wire's opaque text.
  partition_id text collate "C" not null,
  tx_hash bigint not null,
  id uuid not null,
  transaction_id text not null,
  event_type text not null,
  data text not null,
  group_name text collate "C",
  worker_id text,
  names text[] collate "C" not null,
  created_at timestamptz not null,
  primary key (partition_id, tx_hash, id)
);
create index trace_age on lockstep.trace (created_at);

create table lockstep.trace_name (
  name text collate "C" not null,
  id uuid not null,
  partition_id text collate "C" not null,
  tx_hash bigint not null,
  created_at timestamptz not null,
  primary key (name, id)
);
create index trace_name_time on lockstep.trace_name (name, created_at desc);
