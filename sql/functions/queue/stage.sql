-- purpose: pushes inside the caller's own transaction: text in, one JSON text out, for any driver; several items in one call
-- locks in order: none (waits only for an open transaction that staged the same id)
-- raises: LS400, LS401 for a wrong name or payload, LS426 encryption_required; 25006 in a read-only transaction
-- idempotent how: a known transaction id answers duplicate; works under any isolation level and after ROLLBACK TO
-- index used: staged_once, message_tx_hash
-- Answer: [{"status":"queued"|"duplicate"|"queue_full","messageId":uuid,"conflict":boolean}, …] in item order.
create or replace function lockstep.stage(
  p_queue text[], p_partition text[], p_transaction_id text[], p_payload text[],
  p_trace_id text[], p_producer_sub text[], p_id text[])
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  perform lockstep._demand_items(p_queue, p_partition, p_payload);
  return (
    select coalesce(json_agg(json_build_object('status', s.status, 'messageId', s.message_id, 'conflict', s.conflict)
                    order by s.ord), '[]'::json)::text
      from lockstep._stage(p_queue, p_partition, p_transaction_id, p_payload, p_trace_id, p_producer_sub, p_id::uuid[]) s);
end
$$;
