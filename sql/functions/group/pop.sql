-- purpose: leases the next messages of one partition of a queue (or of a named one) to the caller
-- locks in order: see pop_joined; held to the end of the caller's transaction
-- raises: LS400 bad_request, LS401 name_too_long, LS425 isolation_not_supported, LS427 encryption_key_missing
-- idempotent how: each call leases anew; what is not acked comes again when the lease ends
-- index used: lane_due, lane_pkey, message_pkey
-- Example: select * from lockstep.pop('orders', 'billing', p_subscription_mode => 'all');
create or replace function lockstep.pop(
  p_queue text, p_group text default '__QUEUE_MODE__', p_batch int default 1, p_partition text default null,
  p_lease_seconds int default null, p_subscription_mode text default 'new')
returns table (partition_id text, partition_name text, lease_id text, message_offset bigint, id uuid, transaction_id text,
               payload text, trace_id text, created_at text, delivery int)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_lease text := lockstep.uuid7();
begin
  perform lockstep._demand_name('queue', p_queue), lockstep._demand_name('group', p_group);
  if p_batch is null or p_batch not between 1 and 10000 then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'p_batch must be 1 to 10000';
  end if;
  if p_lease_seconds is not null and p_lease_seconds not between 1 and 604800 then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'p_lease_seconds must be 1 to 604800';
  end if;
  if p_subscription_mode is null or p_subscription_mode not in ('all', 'new') then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'p_subscription_mode must be all or new';
  end if;
  return query
    with found as materialized (
      select * from lockstep.pop_joined(p_queue, p_partition, p_group, array[v_lease], p_batch, 1, p_lease_seconds, false,
        p_subscription_mode, null, null, false)
    )
    select (select h.partition_id from found h where h.request = 0) || lpad(f.partition_id::text, 12, '0'), f.partition_name, v_lease,
           f.message_offset, f.id, f.transaction_id, f.payload, f.trace_id, f.created_at, f.delivery
      from found f where f.request > 0
     order by f.message_offset;
end
$$;
