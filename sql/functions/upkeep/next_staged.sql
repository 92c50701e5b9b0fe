-- purpose: the next queue, by name, that has staged pushes; null: no later one has any
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: staged_queue
create or replace function lockstep.next_staged(p_after text) returns text
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return (select s.queue_name from staged s where s.queue_name > p_after order by s.queue_name limit 1);
end
$$;
