-- purpose: refuses a name that is absent, empty or longer than 512 bytes
-- locks in order: none
-- raises: LS400 bad_request, LS401 name_too_long
-- idempotent how: reads only
-- index used: none
create or replace function lockstep._demand_name(p_kind text, p_name text) returns void
language plpgsql immutable
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  if p_name is null or p_name = '' then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = p_kind || ' must be a name of 1 to 512 bytes';
  end if;
  if octet_length(p_name) > 512 then
    raise exception using errcode = 'LS401', detail = 'name_too_long',
      message = p_kind || ' is ' || octet_length(p_name) || ' bytes long; at most 512 are allowed';
  end if;
end
$$;
