-- breaking: no · phase: pre · locks: none (new tables)
-- What brokers did per queue and minute, kept for a week: for people and dashboards. Nothing is decided by it.

create table lockstep.activity (
  queue text collate "C" not null,
  minute timestamptz not null,
  pushed bigint not null default 0,
  delivered bigint not null default 0,
  acked bigint not null default 0,
  failed bigint not null default 0,
  primary key (queue, minute)
);
create index activity_minute on lockstep.activity (minute);
