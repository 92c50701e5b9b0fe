-- purpose: finds a group of a queue or registers it with its start; null id when the queue was deleted meanwhile
-- locks in order: queue (for update, only to register)
-- raises: nothing
-- idempotent how: the first registration decides the start and whether it conflates, later ones are ignored
-- index used: consumer_group_name_once
-- Registering inserts nothing per partition: lanes of the partitions up to backfill_until are made in passes by pops.
create or replace function lockstep._open_group(
  p_queue_id int, p_name text, p_mode text, p_from timestamptz, p_conflation boolean)
returns lockstep.consumer_group
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_group consumer_group;
  v_now timestamptz;
  v_until bigint;
begin
  select * into v_group from consumer_group g where g.queue_id = p_queue_id and g.name = p_name;
  if found then
    return v_group;
  end if;
  -- Against a new partition at the same time, which holds the queue for key share: one of the two sees the other.
  perform 1 from queue q where q.id = p_queue_id and q.deleted_at is null for update;
  if not found then
    return null;
  end if;
  v_now := lockstep.clock();
  select max(p.id) into v_until from partition p where p.queue_id = p_queue_id;
  insert into consumer_group (queue_id, name, starts_at, subscription_mode, created_at, backfill_until, conflation)
    values (p_queue_id, p_name,
            case when p_name = '__QUEUE_MODE__' then '-infinity' when p_from is not null then p_from
                 when p_mode = 'new' then v_now else '-infinity' end,
            case when p_name = '__QUEUE_MODE__' then 'all' when p_from is not null then 'from' else p_mode end,
            v_now, v_until, p_conflation and p_name <> '__QUEUE_MODE__')
    on conflict on constraint consumer_group_name_once do nothing;
  select * into v_group from consumer_group g where g.queue_id = p_queue_id and g.name = p_name;
  return v_group;
end
$$;
