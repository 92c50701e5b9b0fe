-- breaking: no · phase: pre · locks: none (new table)
-- Who did what that cannot be undone: one row per destructive call, in the same commit.

create table lockstep.audit (
  -- UUIDv7: in the order of time.
  id uuid primary key,
  at timestamptz not null,
  -- The subject of the caller's token, or the user of a command; null: whoever used the database role.
  actor text,
  db_role text not null,
  -- The function's name.
  action text not null,
  -- JSON: what the call named, and what came of it.
  target text not null,
  outcome text not null,
  request_id text,
  expires_at timestamptz not null
);
create index audit_expiry on lockstep.audit (expires_at);
