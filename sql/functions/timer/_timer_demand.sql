-- purpose: refuses timer operations of a wrong shape from callers that no door has checked
-- locks in order: none
-- raises: LS430 timers_bad_request, LS431 timer_horizon_exceeded, LS413 payload_too_large; 22P02 for text that is no JSON
-- idempotent how: reads only
-- index used: none
create or replace function lockstep._timer_demand(
  p_op text[], p_queue text[], p_key text[], p_partition text[], p_tx text[], p_payload text[], p_delay_ms bigint[]) returns void
language plpgsql stable
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_wrong text;
begin
  if current_setting('array_nulls') <> 'on' then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'array_nulls must be on in this session',
      hint = 'set array_nulls = on, or alter role … reset array_nulls';
  end if;
  select case
      when u.op is null or u.op not in ('schedule', 'cancel') then format('%L is no timer operation', u.op)
      when coalesce(octet_length(u.queue), 0) not between 1 and 512 then 'the queue of a timer must be a name of 1 to 512 bytes'
      when coalesce(octet_length(u.key), 0) not between 1 and 512 or u.key in ('.', '..')
        then 'the key of a timer must be 1 to 512 bytes, and not . or ..'
      when u.op = 'cancel' then null
      when coalesce(octet_length(u.partition), 0) not between 1 and 512
        then 'the partition of a timer must be a name of 1 to 512 bytes'
      when octet_length(u.tx) not between 1 and 65535 then 'a transaction id must be 1 to 65535 bytes long'
      when u.payload is null then 'a payload must be JSON; for the JSON null write ''null'''
      when u.delay_ms is null then 'say after how long the timer fires' end
    into v_wrong
    from unnest(p_op, p_queue, p_key, p_partition, p_tx, p_payload, p_delay_ms)
         with ordinality u(op, queue, key, partition, tx, payload, delay_ms, ord)
   order by 1 nulls last limit 1;
  if v_wrong is not null then
    raise exception using errcode = 'LS430', detail = 'timers_bad_request', message = v_wrong;
  end if;
  if (select max(u) from unnest(p_delay_ms) u) > 7776000000 then -- LIMITS.timerHorizonMs
    raise exception using errcode = 'LS431', detail = 'timer_horizon_exceeded', message = 'a timer fires within 90 days';
  end if;
  if (select max(octet_length(u)) from unnest(p_payload) u where not lockstep._sealed(u)) > 1048576 then -- LIMITS.timerPayloadBytes
    raise exception using errcode = 'LS413', detail = 'payload_too_large', message = 'the payload of a timer has at most 1048576 bytes';
  end if;
  perform count(u::json) from unnest(p_payload) u where not lockstep._sealed(u);
end
$$;
