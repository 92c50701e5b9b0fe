-- purpose: refuses a plain payload for a queue whose encryption is on, once any process with keys has worked on this database
-- locks in order: none
-- raises: LS426 encryption_required
-- idempotent how: reads only
-- index used: encryption_key_pkey
create or replace function lockstep._demand_sealed(p_queue text, p_payload text[]) returns void
language plpgsql stable
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  if exists (select from unnest(p_payload) u where not lockstep._sealed(u)) and exists (select from encryption_key) then
    raise exception using errcode = 'LS426', detail = 'encryption_required',
      message = format('queue %s is encrypted: push through a broker or a client that has its keys', p_queue);
  end if;
end
$$;
