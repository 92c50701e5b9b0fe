-- purpose: reads kept messages by offset for several partitions at once, taking nothing and moving no cursor; of each entry first
--   a row of its bounds (message_offset null; queue_id null without such a queue), then its messages
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only, all of it in one snapshot
-- index used: queue_live_name, partition_name_once, message_pkey
-- An entry stops before p_bytes[i] of payloads, the call before p_call_bytes and p_rows; the first message of an entry whose turn
-- comes before that goes whatever its size, so that nobody stands still. A partition that is not there yet is an empty one.
create or replace function lockstep.fetch_messages(
  p_queue text[], p_partition text[], p_offset bigint[], p_bytes bigint[], p_call_bytes bigint, p_rows int)
returns table (entry int, queue_id int, partition_id bigint, next_offset bigint, log_start bigint, message_offset bigint, id uuid,
               transaction_id text, payload text, created_at text)
language plpgsql stable security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_room bigint := p_call_bytes;
  v_rows int := p_rows;
  v_message record;
begin
  for i in 1 .. cardinality(p_queue) loop
    entry := i;
    message_offset := null;
    partition_id := null;
    next_offset := 0;
    log_start := 0;
    select q.id into queue_id from queue q where q.name = p_queue[i] and q.deleted_at is null;
    if found then
      select p.id, p.next_offset, p.log_start into partition_id, next_offset, log_start
        from partition p where p.queue_id = fetch_messages.queue_id and p.name = p_partition[i];
      if not found then
        next_offset := 0;
        log_start := 0;
      end if;
    end if;
    return next;
    continue when p_offset[i] < log_start or p_offset[i] >= next_offset or v_room <= 0 or v_rows <= 0;
    for v_message in
      select f.*
        from (select m."offset", m.id, m.transaction_id, m.payload, m.created_at, greatest(octet_length(m.payload), 1) as bytes,
                     sum(greatest(octet_length(m.payload), 1)) over (order by m."offset") as upto
                from message m
               where m.queue_id = fetch_messages.queue_id and m.partition_id = fetch_messages.partition_id
                 and m."offset" >= p_offset[i] and m."offset" < fetch_messages.next_offset
               order by m."offset" limit v_rows) f
       where f.upto <= least(p_bytes[i], v_room) or f.upto = f.bytes
       order by f."offset"
    loop
      message_offset := v_message."offset";
      id := v_message.id;
      transaction_id := v_message.transaction_id;
      payload := v_message.payload;
      created_at := lockstep.instant_text(v_message.created_at);
      v_room := v_room - v_message.bytes;
      v_rows := v_rows - 1;
      return next;
    end loop;
    id := null;
    transaction_id := null;
    payload := null;
    created_at := null;
  end loop;
end
$$;
