-- purpose: refuses a verb that locks and then looks under an isolation level whose later statements see no newer snapshot, and a
--   session that reads NULL in array literals as text
-- locks in order: none
-- raises: LS425 isolation_not_supported, LS400 bad_request
-- idempotent how: reads only
-- index used: none
create or replace function lockstep._demand_read_committed() returns void
language plpgsql volatile
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  if current_setting('array_nulls') <> 'on' then
    raise exception using errcode = 'LS400', detail = 'bad_request', message = 'array_nulls must be on in this session',
      hint = 'set array_nulls = on, or alter role … reset array_nulls';
  end if;
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = 'LS425', detail = 'isolation_not_supported',
      message = 'this verb takes locks and needs READ COMMITTED, not ' || upper(current_setting('transaction_isolation')),
      hint = 'begin isolation level read committed';
  end if;
end
$$;
