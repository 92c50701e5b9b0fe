-- purpose: keeps the options of an ephemeral queue, replacing those it had
-- locks in order: ephemeral queue (name)
-- raises: LS400 bad_request, LS401 name_too_long
-- idempotent how: the same options again change nothing but the time
-- index used: ephemeral_queue_pkey
create or replace function lockstep.declare_ephemeral(p_queue text, p_options text) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_now timestamptz := lockstep.clock();
begin
  perform lockstep._demand_name('queue', p_queue);
  insert into ephemeral_queue (name, options, declared_at) values (p_queue, p_options, v_now)
    on conflict (name) do update set options = excluded.options, declared_at = excluded.declared_at;
end
$$;
