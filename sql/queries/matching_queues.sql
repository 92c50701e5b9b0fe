-- purpose: names of live queues for a discovery pop, by priority, then name; $1 namespace or null, $2 task or null
-- index used: queue_live_name
select q.name
  from lockstep.queue q
 where q.deleted_at is null and ($1::text is null or q.namespace = $1) and ($2::text is null or q.task = $2)
 order by q.priority desc, q.name
