-- purpose: dead letters, newest first; $1 queue, $2 group, $3 partition, $4 from, $5 to (all may be null), $6 rows, $7 rows to skip
-- index used: dead_letter_time, queue_live_name
select d.queue_id, d.id, d.transaction_id, d.message_id, d.partition_id, q.name, d.partition_name, d.group_name, d."offset",
       d.cause, d.error, d.failures, d.crashes, d.payload, d.trace_id, d.producer_sub,
       lockstep.instant_text(d.created_at), lockstep.instant_text(d.failed_at)
  from lockstep.queue q
 cross join lateral (
   select * from lockstep.dead_letter d
    where d.queue_id = q.id
      and ($2::text is null or d.group_name = $2) and ($3::text is null or d.partition_name = $3)
      and ($4::timestamptz is null or d.failed_at >= $4::timestamptz) and ($5::timestamptz is null or d.failed_at < $5::timestamptz)
    order by d.failed_at desc, d.id desc
    limit $6::int + $7::int) d
 where q.deleted_at is null and ($1::text is null or q.name = $1)
 order by d.failed_at desc, d.id desc
 limit $6::int offset $7::int
