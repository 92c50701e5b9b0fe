-- breaking: no · phase: pre · locks: queue, consumer_group, lane (access exclusive, for an instant; columns without a rewrite)
-- When messages are delivered and how long they are kept: conflating groups, cuts of logs, the age of dead letters.

alter table lockstep.queue add column dead_letter_retention_seconds bigint not null default 0;
-- When somebody last began to walk the queue's partitions for retention: processes share the walks.
alter table lockstep.queue add column retained_at timestamptz;

-- Fixed when the group is registered: each partition delivers its newest message only.
alter table lockstep.consumer_group add column conflation boolean not null default false;
create index consumer_group_conflation on lockstep.consumer_group (queue_id, id) where conflation;

-- Of a conflating group: the newest message that was delivered last, and where the cursor stood before what it skipped.
alter table lockstep.lane add column conflated_at bigint;
alter table lockstep.lane add column conflated_from bigint;

-- Stretches of logs that retention has cut off (log_start is past them) and whose messages are still to be deleted.
create table lockstep.log_cut (
  queue_id int not null,
  partition_id bigint not null,
  from_offset bigint not null,
  to_offset bigint not null,
  primary key (queue_id, partition_id, to_offset)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
  vacuum_truncate = off);
