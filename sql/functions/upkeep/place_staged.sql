-- purpose: places what is staged for the next queue, by name, after p_after; null queue: no later one has any
-- locks in order: queue (key share, only for new partitions), partition (id, SKIP LOCKED), lane (partition, group)
-- raises: LS425 isolation_not_supported
-- idempotent how: delete and insert are one statement; whoever holds a partition places it instead
-- index used: staged_queue
-- One queue per call and so per transaction: a second one would wait for its class while lanes of the first are held.
create or replace function lockstep.place_staged(p_after text, out queue text, out placed int)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  placed := 0;
  select s.queue_name into queue from staged s where s.queue_name > p_after order by s.queue_name limit 1;
  if queue is not null then
    placed := lockstep.place_queue(queue);
  end if;
end
$$;
