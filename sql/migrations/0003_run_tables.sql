-- breaking: no · phase: pre · locks: none (new tables)
-- Runs: workflows and single jobs. A run is its node 0; a job has no other. Nodes are claimed like lanes: available_at says
-- when one is worth visiting, a token fences whoever works on it. Finished nodes leave the index of the ready ones.

-- What a workflow looks like, written by the processes that know its code, so that SQL, HTTP and people know it without.
create table lockstep.workflow_version (
  name text collate "C" not null,
  version text collate "C" not null,
  -- graph | code | action
  kind text not null,
  -- JSON: nodes with their edges and policies; see _open_run.
  shape text not null,
  registered_at timestamptz not null,
  last_seen_at timestamptz not null,
  primary key (name, version)
);

create table lockstep.node (
  -- In the order in which rows are read: what is always there and of one length, then what claims and indexes look at, then the
  -- rest. A claim that passes by a leased node reads 20 bytes of it instead of walking through its texts.
  run_id uuid not null,
  -- 0 is the run itself; the nodes of a graph count from 1, parents before children.
  ordinal int not null,
  -- Claims; explicit failures; lapsed leases.
  attempt int not null default 0,
  failures int not null default 0,
  crashes int not null default 0,
  -- Predecessors that have not settled yet.
  waiting int not null default 0,
  max_attempts int not null default 5,
  crash_limit int not null default 10,
  priority smallint not null default 0,
  -- Nodes that share (want, limit_key) run at most so many at once; filed: known to the limit's row, which hands them out.
  filed boolean not null default false,
  created_at timestamptz not null,
  backoff_ms bigint not null default 1000,
  backoff_max_ms bigint not null default 3600000,
  available_at timestamptz,
  lease_expires_at timestamptz,
  finished_at timestamptz,
  -- What a claimer must know: an action's name, plan:<workflow>@<version>, flow:<workflow>; null: nothing to claim.
  want text collate "C",
  -- Of node 0 only; so are version, tags, deadline and parent.
  workflow text collate "C",
  limit_key text collate "C",
  deadline timestamptz,
  parent_run uuid,
  -- The end of a lease that counts against a limit. Apart from lease_expires_at, so that no index has that one and a claim of
  -- what nothing limits touches no index at all: 16 µs of the server's time became 9.
  limited_until timestamptz generated always as (case when limit_key is not null then lease_expires_at end) stored,
  -- Kept by a node that is done: a repeated completion recognises its own.
  lease_id text collate "C",
  -- waiting | ready (its input is to be computed) | planned | sleeping | compensating | done | failed |
  -- skipped | cancelled
  state text not null,
  -- job | flow | graph of node 0; node | map | item | call | compensation of the others.
  kind text not null,
  name text collate "C" not null,
  action text collate "C",
  version text collate "C",
  -- Of node 0 its key, of an item that of its map.
  run_key text collate "C",
  limit_max int,
  -- At most one start per so many milliseconds; null: no rate.
  limit_interval_ms bigint,
  parents int[],
  children int[],
  -- fail | skip | continue | compensate
  on_failure text not null default 'fail',
  compensate text collate "C",
  tags text[],
  parent_ordinal int,
  input text,
  output text,
  -- JSON {code, message, …}
  error text,
  progress text,
  primary key (run_id, ordinal)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
create index node_ready on lockstep.node (want, priority desc, available_at) where available_at is not null and not filed;
create index node_filed on lockstep.node (want, limit_key, priority desc, available_at) where available_at is not null and filed;
create index node_limited on lockstep.node (want, limit_key, limited_until) where limited_until is not null;
-- Only node 0 has a workflow. Said so, because a predicate of ordinal = 0 would tempt plans of "run_id = any and ordinal = 0" into
-- reading all of this index while the table is small or was never analysed (2.9 ms instead of 10 µs per call).
create index node_run on lockstep.node (workflow, created_at) where workflow is not null;
create index node_deadline on lockstep.node (deadline) where deadline is not null and finished_at is null;
create index node_child_run on lockstep.node (parent_run, run_id) where parent_run is not null and finished_at is null;

-- A mutex per (want, key), not a counter: how many run is read from live leases. It is due while work and room remain.
create table lockstep.run_limit (
  want text collate "C" not null,
  key text collate "C" not null,
  max int not null,
  -- At most one start per interval; null: no rate. Next_allowed_at is a clock, not a counter: it cannot leak.
  interval_ms bigint,
  available_at timestamptz,
  next_allowed_at timestamptz,
  primary key (want, key)
) with (fillfactor = 70);
create index run_limit_due on lockstep.run_limit (want, available_at) where available_at is not null;

-- One run per key.
create table lockstep.run_key (
  workflow text collate "C" not null,
  key text collate "C" not null,
  run_id uuid not null,
  primary key (workflow, key)
);

-- Named durable steps of code: what was done is remembered by name.
create table lockstep.step (
  run_id uuid not null,
  name text collate "C" not null,
  -- done | sleeping | waiting | called
  state text not null,
  output text,
  -- The claim that recorded it.
  lease_id text collate "C",
  due_at timestamptz,
  created_at timestamptz not null,
  primary key (run_id, name)
);

create table lockstep.signal (
  run_id uuid not null,
  seq bigint generated always as identity,
  name text collate "C" not null,
  payload text not null,
  created_at timestamptz not null,
  -- The step that received it.
  taken_by text collate "C",
  primary key (run_id, seq)
);
