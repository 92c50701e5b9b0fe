-- purpose: payloads of one table that are not sealed with the key p_key although they are sealed, or their queue is encrypted
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: message_pkey, staged_pkey, dead_letter_pkey, timer_pkey
-- Looks at p_limit rows behind p_after, in the order of the keys. The last row only tells how far it came: place is the p_after
-- of the next call, null at the end. Bounded in payloads too: past 16 MiB the look ends early.
create or replace function lockstep.next_reseal(p_table text, p_key text, p_after text, p_limit int)
returns table (place text, queue text, partition text, message_id uuid, transaction_id text, payload text)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off
as $$
declare
  v_seen int := 0;
  v_bytes bigint := 0;
  v_last text;
  v_row record;
begin
  for v_row in select * from lockstep._payload_rows(p_table, p_after, p_limit) loop
    v_seen := v_seen + 1;
    v_last := v_row.place;
    continue when v_row.queue is null or not coalesce(case when lockstep._sealed(v_row.payload) then split_part(left(v_row.payload, 64), ':', 2) <> p_key
                                    else v_row.encrypted end, false);
    place := v_row.place;
    queue := v_row.queue;
    partition := v_row.partition;
    message_id := v_row.message_id;
    transaction_id := v_row.transaction_id;
    payload := v_row.payload;
    v_bytes := v_bytes + octet_length(payload);
    return next;
    exit when v_bytes > 16777216;
  end loop;
  place := case when v_seen = p_limit or v_bytes > 16777216 then v_last end;
  queue := null;
  message_id := null;
  payload := null;
  return next;
end
$$;
