-- purpose: pushes one message inside the caller's own transaction: it exists when that transaction commits
-- locks in order: none (waits only for an open transaction that pushed the same id)
-- raises: LS400 bad_request, LS401 name_too_long, LS426 encryption_required; 25006 in a read-only transaction
-- idempotent how: the same transaction id in the same partition inside the queue's window answers duplicate
-- index used: staged_once, message_tx_hash
-- Example: begin; insert into orders …; select * from lockstep.push('orders', '{"id":1}', 'acme', 'order-1'); commit;
create or replace function lockstep.push(
  p_queue text, p_payload json, p_partition text default 'Default', p_transaction_id text default null,
  p_trace_id text default null, out status text, out message_id uuid, out conflict boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_id uuid := lockstep.uuid7();
  v_staged record;
begin
  v_staged := lockstep._stage_one(p_queue, p_partition, p_transaction_id, p_payload::text, p_trace_id, null, v_id);
  status := v_staged.status;
  message_id := v_staged.message_id;
  conflict := v_staged.conflict;
end
$$;
