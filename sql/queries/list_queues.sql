-- purpose: live queues with their options and counts, by name; $1 one name or null, $2 namespace, $3 task
-- index used: queue_live_name
select q.id, q.name, q.namespace, q.task, lockstep.instant_text(q.created_at), lockstep.queue_options(q),
       c.partitions, c.total, c.pending, c.processing, c.completed, c.dead_letter
  from lockstep.queue q
 cross join lateral lockstep.queue_counts(q.id) c
 where q.deleted_at is null and ($1::text is null or q.name = $1)
   and ($2::text is null or q.namespace = $2) and ($3::text is null or q.task = $3)
 order by q.name
