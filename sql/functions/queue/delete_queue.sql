-- purpose: deletes a queue in one short commit: its name is free at once, everything it held is out of reach (messages,
--   duplicates, cursors, leases, groups, dead letters, staged pushes) and upkeep removes it
-- locks in order: queue (for update)
-- raises: LS425 isolation_not_supported
-- idempotent how: answers false when no queue has the name
-- index used: queue_live_name, staged_queue
-- What is staged goes in one statement. p_most bounds that: with more staged nothing is done and the answer is null; whoever
--   gets it calls place_queue and asks again.
-- A push that holds a partition of it sees the deletion in a later statement and goes to a new queue of the name.
create or replace function lockstep.delete_queue(p_queue text, p_most int default null) returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_id int;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  if (select count(*) from (select 1 from staged s where s.queue_name = p_queue limit p_most + 1) s) > p_most then
    return null;
  end if;
  select q.id into v_id from queue q where q.name = p_queue and q.deleted_at is null for update;
  if not found then
    return false;
  end if;
  v_now := lockstep.clock();
  update queue q set deleted_at = v_now where q.id = v_id;
  -- What was staged and committed before belongs to the old queue. A row held by a placer is going there anyway.
  delete from staged s
   using (select h.partition_name, h.seq from staged h where h.queue_name = p_queue for update skip locked) gone
   where s.queue_name = p_queue and s.partition_name = gone.partition_name and s.seq = gone.seq;
  perform lockstep._audit('delete_queue', json_build_object('queue', p_queue), json_build_object('deleted', true));
  return true;
end
$$;
