-- purpose: removes notes of destructive calls whose time is over, at most 500 per call; answers how many
-- locks in order: none but the rows themselves
-- raises: nothing
-- idempotent how: what is gone is gone
-- index used: audit_expiry
create or replace function lockstep.expire_audit() returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := lockstep.clock();
  v_removed int;
begin
  delete from audit a
   where a.id = any (array(select x.id from audit x where x.expires_at <= v_now order by x.expires_at limit 500));
  get diagnostics v_removed = row_count;
  return v_removed;
end
$$;
