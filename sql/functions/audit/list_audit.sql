-- purpose: destructive calls, newest first; null filters match all
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: audit_pkey
-- p_before is the id of the last row of the page before.
create or replace function lockstep.list_audit(
  p_action text default null, p_actor text default null, p_from timestamptz default null, p_to timestamptz default null,
  p_limit int default 100, p_before uuid default null)
returns table (id uuid, at text, actor text, db_role text, action text, target text, outcome text, request_id text)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select a.id, lockstep.instant_text(a.at), a.actor, a.db_role, a.action, a.target, a.outcome, a.request_id
    from audit a
   where (p_action is null or a.action = p_action) and (p_actor is null or a.actor = p_actor)
     and (p_from is null or a.at >= p_from) and (p_to is null or a.at < p_to) and (p_before is null or a.id < p_before)
   order by a.id desc
   limit p_limit
$$;
