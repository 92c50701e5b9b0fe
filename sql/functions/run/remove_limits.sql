-- purpose: removes limits at rest, a bounded number per call: keys come and go, and a limit is made anew when a node needs it
-- locks in order: limit (deleted)
-- raises: nothing
-- idempotent how: what is gone is gone; one that was woken meanwhile is left as it is
-- index used: run_limit_pkey
create or replace function lockstep.remove_limits(p_limit int) returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_now timestamptz := lockstep.clock();
  v_count int;
begin
  delete from run_limit l
   using (select r.want, r.key from run_limit r
           where r.available_at is null and coalesce(r.next_allowed_at, '-infinity') < v_now - interval '1 hour' limit p_limit) d
   where l.want = d.want and l.key = d.key and l.available_at is null;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
