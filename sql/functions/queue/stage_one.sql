-- purpose: stage for one message with an id of its own, the usual push of a user's transaction; text in, one JSON text out
-- locks in order: none (waits only for an open transaction that staged the same id)
-- raises: LS400, LS401, LS413 for a wrong name or payload, LS426 encryption_required; 22P02 for an id that is no uuid or a payload that is no JSON;
--   25006 in a read-only transaction
-- idempotent how: as stage
-- index used: queue_live_name, staged_once, message_tx_hash
-- Plain parameters, no arrays: through a user's client a statement is never prepared, so its parsing is paid each time. An
-- empty transaction id is none; then there is nothing to look for, and what is right is stored by one statement here.
create or replace function lockstep.stage_one(p_queue text, p_partition text, p_transaction_id text, p_payload text, p_id text)
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_id uuid := p_id;
  v_json json;
  v_staged record;
begin
  if p_transaction_id = '' and octet_length(p_queue) between 1 and 512 and octet_length(p_partition) between 1 and 512
     and octet_length(p_payload) <= 64 * 1024 * 1024 and left(p_payload, 3) <> '$1:' and current_setting('array_nulls') = 'on' then
    v_json := p_payload;  -- only checked, nothing is made of it
    insert into staged (queue_name, partition_name, seq, id, transaction_id, payload)
      select p_queue, p_partition, nextval('lockstep.staged_seq'), v_id, v_id::text, p_payload
       where not exists (select 1 from queue q where q.name = p_queue and q.deleted_at is null
                            and (q.max_size > 0 or q.encryption_enabled));
    if found then
      return '[{"status":"queued","messageId":"' || v_id || '","conflict":false}]';
    end if;
  end if;
  v_staged := lockstep._stage_one(p_queue, p_partition, nullif(p_transaction_id, ''), p_payload, null, null, v_id);
  return '[{"status":"' || v_staged.status || '","messageId":"' || v_staged.message_id || '","conflict":'
    || v_staged.conflict || '}]';
end
$$;
