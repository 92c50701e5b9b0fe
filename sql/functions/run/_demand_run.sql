-- purpose: refuses what no run can have, for the functions that people call: a name that means the engine's own work, an input, a key,
--   a priority, tags or times out of bounds
-- locks in order: none
-- raises: LS400 bad_request, LS401 name_too_long, LS413 payload_too_large
-- idempotent how: reads only
-- index used: none
create or replace function lockstep._demand_run(
  p_kind text, p_name text, p_input json, p_key text, p_delay interval, p_priority int, p_tags text[], p_deadline interval) returns void
language plpgsql immutable
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_right text;
begin
  perform lockstep._demand_name(p_kind, p_name);
  if p_key is not null then
    perform lockstep._demand_name('p_key', p_key); -- LIMITS.runKeyBytes is 512 too
  end if;
  v_right := case
    when p_name ~ '^(plan|flow):' then p_kind || ' must be a name that does not begin with ''plan:'' or ''flow:'''
    when p_input is null then 'p_input must be JSON; for the JSON null write ''null'''
    when not coalesce(p_priority, 0) between -100 and 100 then 'p_priority must be from -100 to 100' -- LIMITS.runPriority
    when not coalesce(extract(epoch from p_delay), 0) between 0 and 315360000000 / 1000.0 -- LIMITS.runDelayMs
      then 'p_delay must be from nothing to ten years'
    when not coalesce(extract(epoch from p_deadline), 1) between 0.001 and 315360000000 / 1000.0 -- LIMITS.runDelayMs
      then 'p_deadline must be from a millisecond to ten years'
    when cardinality(p_tags) > 32 -- LIMITS.runTags
      or exists (select 1 from unnest(p_tags) t(tag) where coalesce(octet_length(t.tag), 0) not between 1 and 512) -- LIMITS.nameBytes
      then 'p_tags must be at most 32 tags, each of 1 to 512 bytes' end;
  if v_right is not null then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = v_right;
  end if;
  if octet_length(p_input::text) > 1048576 then -- LIMITS.runValueBytes
    raise exception using errcode = 'LS413', detail = 'payload_too_large', message = 'p_input must be at most 1048576 bytes'; -- LIMITS.runValueBytes
  end if;
end
$$;
