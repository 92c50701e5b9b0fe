-- purpose: schedules and cancels timers inside the caller's own transaction: text in, one JSON text out, for any driver
-- locks in order: timer (queue, key) until the caller's commit
-- raises: LS430 timers_bad_request, LS431 timer_horizon_exceeded, LS413 payload_too_large; 25006, 40001 of the caller's transaction
-- idempotent how: see timer_joined
-- index used: timer_pkey
-- Answer: [{"status":"scheduled"|"rescheduled"|"cancelled"|"absent","transactionId":…,"messageId":…,"deliverAt":…}, …] in order.
create or replace function lockstep.timers(
  p_op text[], p_queue text[], p_key text[], p_partition text[], p_tx text[], p_payload text[], p_delay_ms bigint[],
  p_id text[], p_sub text[])
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  perform lockstep._timer_demand(p_op, p_queue, p_key, p_partition, p_tx, p_payload, p_delay_ms);
  return (
    select coalesce(json_agg(json_build_object('status', t.status, 'transactionId', t.transaction_id, 'messageId', t.message_id,
                                               'deliverAt', t.due_at) order by t.pos), '[]'::json)::text
      from lockstep.timer_joined(array_fill(0, array[cardinality(p_op)]), array(select generate_series(1, cardinality(p_op))),
             p_op, p_queue, p_key, p_partition, p_tx, p_payload, p_delay_ms, p_id::uuid[], p_sub) t);
end
$$;
