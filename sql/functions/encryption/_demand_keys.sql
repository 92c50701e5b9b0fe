-- purpose: a sealed payload, for a process that has its key; any other is refused, which undoes the claim, so that nothing is lost
-- locks in order: none
-- raises: LS427 encryption_key_missing
-- idempotent how: pure
-- index used: none
create or replace function lockstep._demand_keys(p_queue text, p_payload text, p_keys text[]) returns text
language plpgsql immutable
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  if split_part(left(p_payload, 64), ':', 2) <> all (p_keys) then
    raise exception using errcode = 'LS427', detail = 'encryption_key_missing',
      message = format('a message of queue %s is sealed with the key %s, which this process does not have', p_queue,
                       split_part(left(p_payload, 64), ':', 2));
  end if;
  return p_payload;
end
$$;
