-- breaking: no · phase: pre · locks: none (new table)
-- The keys that processes seal payloads with: their names and a mark by which the same key is known again, never a key.

-- As soon as one is here, a queue whose encryption is on takes sealed payloads only.
create table lockstep.encryption_key (
  id text collate "C" primary key,
  -- A keyed hash of a fixed text: two different keys of one name are told apart.
  mark text not null,
  first_seen_at timestamptz not null
);
