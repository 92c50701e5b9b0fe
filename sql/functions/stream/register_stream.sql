-- purpose: registers a stream's query under its name and answers the id that its cycles name
-- locks in order: stream query
-- raises: LS400 bad_request, LS401 name_too_long, LS425 isolation_not_supported
-- idempotent how: the same configuration again answers the same id
-- index used: stream_query_live_name
-- outcome: fresh; kept (the same configuration: state goes on); reset (another one, and p_reset: a new id without state);
--   mismatch (another one: nothing was changed).
create or replace function lockstep.register_stream(
  p_name text, p_source_queue text, p_sink_queue text, p_config_hash text, p_reset boolean default false, out query_id int, out outcome text)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off
as $$
declare
  v_hash text;
  v_now timestamptz;
begin
  perform lockstep._demand_read_committed();
  perform lockstep._demand_name('name', p_name);
  if p_config_hash is null then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'p_config_hash must be text';
  end if;
  loop
    select q.id, q.config_hash into query_id, v_hash
      from stream_query q where q.name = p_name and q.wiped_at is null for no key update;
    v_now := lockstep.clock();
    if found and v_hash = p_config_hash then
      outcome := 'kept';
      return;
    end if;
    if found and not p_reset then
      outcome := 'mismatch';
      return;
    end if;
    outcome := case when found then 'reset' else 'fresh' end;
    update stream_query q set wiped_at = v_now where q.id = query_id;
    insert into stream_query (name, source_queue, sink_queue, config_hash, registered_at)
      values (p_name, p_source_queue, p_sink_queue, p_config_hash, v_now)
      on conflict (name) where wiped_at is null do nothing
      returning id into query_id;
    if found then
      if outcome = 'reset' then
        perform lockstep._audit('reset_stream', json_build_object('stream', p_name), json_build_object('queryId', query_id));
      end if;
      return;
    end if;
  end loop;
end
$$;
