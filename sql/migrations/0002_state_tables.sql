-- breaking: no · phase: pre · locks: none (new tables)
-- Versioned state and recorded answers.

-- A deleted or expired key stays as an expired row for an hour, so that its version only rises.
create table lockstep.kv (
  ns text collate "C" not null,
  key text collate "C" not null,
  value text not null,
  version bigint not null,
  expires_at timestamptz,
  updated_at timestamptz not null,
  primary key (ns, key)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
-- Drawn only while the row is locked: per key it rises across deletion and expiry too.
create sequence lockstep.kv_version;

-- The first committed answer of a request id.
create table lockstep.request (
  id text collate "C" primary key,
  body_hash text not null,
  result text,
  expires_at timestamptz not null
);
create index request_expiry on lockstep.request (expires_at);
