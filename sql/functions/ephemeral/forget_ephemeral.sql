-- purpose: forgets the options of an ephemeral queue; answers whether it was declared
-- locks in order: ephemeral queue (name)
-- raises: nothing
-- idempotent how: a second call finds none
-- index used: ephemeral_queue_pkey
create or replace function lockstep.forget_ephemeral(p_queue text) returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  delete from ephemeral_queue e where e.name = p_queue;
  if not found then
    return false;
  end if;
  perform lockstep._audit('forget_ephemeral', json_build_object('queue', p_queue), json_build_object('deleted', true));
  return true;
end
$$;
