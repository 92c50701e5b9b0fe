-- purpose: stage for one message with an id of its own, the usual push of a user's transaction; text in, one JSON text out
-- locks in order: none (waits only for an open transaction that staged the same id)
-- raises: LS400, LS401, LS413 for a wrong name or payload; 22P02 for an id that is no uuid or a payload that is no JSON;
--   25006 in a read-only transaction
-- idempotent how: as stage
-- index used: staged_once, message_tx_hash
-- Plain parameters, no arrays: through a user's client a statement is never prepared, so its parsing is paid each time. An empty transaction id is none.
create or replace function lockstep.stage_one(p_queue text, p_partition text, p_transaction_id text, p_payload text, p_id text)
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_staged record;
begin
  v_staged := lockstep._stage_one(p_queue, p_partition, nullif(p_transaction_id, ''), p_payload, null, null,
    p_id::uuid);
  return '[{"status":"' || v_staged.status || '","messageId":"' || v_staged.message_id || '","conflict":'
    || v_staged.conflict || '}]';
end
$$;
