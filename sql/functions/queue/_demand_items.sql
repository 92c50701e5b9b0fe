-- purpose: refuses pushed items that the door of the broker would refuse: names, payloads that are no JSON, sizes
-- locks in order: none
-- raises: LS400 bad_request, LS401 name_too_long, LS413 payload_too_large; 22P02 for text that is no JSON
-- idempotent how: reads only
-- index used: none
-- The cast to json only checks; nothing is made of it. A session that reads NULL in array literals as text would lose pushes.
create or replace function lockstep._demand_items(p_queue text[], p_partition text[], p_payload text[]) returns void
language plpgsql stable
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  if current_setting('array_nulls') <> 'on' then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'array_nulls must be on in this session',
      hint = 'set array_nulls = on, or alter role … reset array_nulls';
  end if;
  perform lockstep._demand_name('queue', u) from (select distinct q from unnest(p_queue) q) d(u);
  perform lockstep._demand_name('partition', u) from (select distinct p from unnest(p_partition) p) d(u);
  -- Sealed text is a third longer than what it seals.
  if (select max(octet_length(u) * (case when lockstep._sealed(u) then 0.7 else 1 end)) from unnest(p_payload) u) > 64 * 1024 * 1024 then
    raise exception using errcode = 'LS413', detail = 'payload_too_large', message = 'a payload is larger than 64 MiB';
  end if;
  perform count(u::json) from unnest(p_payload) u where not lockstep._sealed(u);
  if exists (select from unnest(p_payload) u
              where lockstep._sealed(u) and u !~ '^\$1:[A-Za-z0-9_-]{1,32}:[A-Za-z0-9_,-]*:[A-Za-z0-9_-]{38,}$') then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'a sealed payload has another form';
  end if;
  if array_position(p_payload, null) is not null then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'a payload must be JSON; for the JSON null write ''null''';
  end if;
end
$$;
