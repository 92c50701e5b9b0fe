-- purpose: notes an event of a message's way under any number of names; the message need not exist
-- locks in order: none
-- raises: LS400 bad_request
-- idempotent how: each call is one trace
-- index used: none
create or replace function lockstep.add_trace(
  p_partition_id text, p_transaction_id text, p_data text, p_event_type text default 'info', p_group text default null,
  p_worker_id text default null, p_names text[] default '{}') returns uuid
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_id uuid := lockstep.uuid7();
  v_now timestamptz := lockstep.clock();
  v_hash bigint := lockstep._trace_hash(p_partition_id, p_transaction_id);
begin
  if p_partition_id is null or p_transaction_id is null or p_data is null then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'partition id, transaction id and data must not be null';
  end if;
  insert into trace (partition_id, tx_hash, id, transaction_id, event_type, data, group_name, worker_id, names, created_at)
    values (p_partition_id, v_hash, v_id, p_transaction_id, p_event_type, p_data, p_group, p_worker_id, p_names, v_now);
  insert into trace_name (name, id, partition_id, tx_hash, created_at)
    select distinct n, v_id, p_partition_id, v_hash, v_now from unnest(p_names) n;
  return v_id;
end
$$;
