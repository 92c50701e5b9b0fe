-- purpose: what a configure changes, by column: each named option checked for its kind and bounds, null and (in mode
--   replace) every absent one put back to the default; unknown names are ignored
-- locks in order: none
-- raises: LS400 bad_request, LS401 name_too_long
-- idempotent how: pure
-- index used: none
create or replace function lockstep._queue_change(
  p_queue text, p_options json, p_namespace text, p_task text, p_mode text) returns jsonb
language plpgsql immutable
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_change jsonb := '{}';
  v_option record;
  v_given json;
  v_value jsonb;
begin
  -- The empty name is legal here; a name that is absent is not.
  if p_queue is null then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'queue must be a name';
  elsif greatest(octet_length(p_queue), octet_length(p_namespace), octet_length(p_task)) > 512 then
    raise exception using errcode = 'LS401', detail = 'name_too_long', message = 'queue, namespace and task have at most 512 bytes';
  elsif p_mode is null or p_mode not in ('merge', 'replace') then
    raise exception using errcode = 'LS400', detail = 'bad_request',
      message = format('mode must be "merge" or "replace", got "%s"', p_mode);
  elsif json_typeof(p_options) <> 'object' then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'options must be an object';
  end if;
  for v_option in select * from lockstep._queue_option() loop
    v_given := p_options -> v_option.name;
    if v_given is null and p_mode = 'merge' then
      continue;
    end if;
    v_value := v_option.fallback;
    if v_given is not null and json_typeof(v_given) <> 'null' then
      if (v_option.kind = 'integer') <> (json_typeof(v_given) = 'number' and v_given::text ~ '^-?[0-9]{1,16}$')
         or v_option.kind = 'boolean' and json_typeof(v_given) <> 'boolean'
         or v_option.kind = 'text' and (json_typeof(v_given) <> 'string' or octet_length(v_given::text) > 514) then
        raise exception using errcode = 'LS400', detail = 'bad_request',
          message = v_option.name || ' must be ' || case v_option.kind when 'integer' then 'an integer' when 'text' then 'text'
                                                                      else 'a boolean' end;
      end if;
      v_value := v_given::jsonb;
      if v_option.name = 'dedupWindowSeconds' then
        v_value := to_jsonb(greatest(v_value::bigint, 0));
      elsif v_option.name = 'minPopWaitTime' then
        v_value := to_jsonb(least(greatest(v_value::bigint, v_option.least_value), v_option.greatest_value));
      end if;
      if v_option.kind = 'integer' and (v_value::bigint < v_option.least_value or v_value::bigint > v_option.greatest_value) then
        raise exception using errcode = 'LS400', detail = 'bad_request',
          message = format('%s must be from %s to %s', v_option.name, coalesce(v_option.least_value, 0), v_option.greatest_value);
      end if;
    end if;
    v_change := v_change || jsonb_build_object(v_option.column_name, v_value);
  end loop;
  return v_change;
end
$$;
