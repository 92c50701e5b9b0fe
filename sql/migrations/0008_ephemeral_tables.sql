-- breaking: no · phase: pre · locks: none (new tables)
-- Declared ephemeral queues: what was configured outlives every broker; what they hold is never written anywhere.

create table lockstep.ephemeral_queue (
  name text collate "C" primary key,
  -- JSON object of the options as configured; those it lacks have their defaults.
  options text not null,
  declared_at timestamptz not null
);
