-- breaking: no · phase: pre · locks: none (new tables)
-- Streams: registered queries, and what each remembers per partition of its source.

create table lockstep.stream_query (
  -- A reset gives the name a new id: the old state, and whoever still works on it, is out of reach at once.
  id int generated always as identity primary key,
  name text collate "C" not null,
  source_queue text collate "C" not null,
  sink_queue text collate "C",
  config_hash text not null,
  registered_at timestamptz not null,
  wiped_at timestamptz
);
create unique index stream_query_live_name on lockstep.stream_query (name) where wiped_at is null;
create index stream_query_wiped on lockstep.stream_query (wiped_at) where wiped_at is not null;

create table lockstep.stream_state (
  query_id int not null,
  queue_id int not null,
  partition_id bigint not null,
  key text collate "C" not null,
  value text not null,
  -- The number `windowEnd` of the value, epoch milliseconds: read at the door, since no JSON function sees a value here.
  window_end double precision,
  updated_at timestamptz not null,
  primary key (query_id, queue_id, partition_id, key)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
create index stream_state_ripe on lockstep.stream_state (query_id, queue_id, partition_id, window_end) where window_end is not null;
-- The next window of a whole query, so that a runner finds what is ripe without asking partition by partition.
create index stream_state_due on lockstep.stream_state (query_id, window_end) where window_end is not null;
