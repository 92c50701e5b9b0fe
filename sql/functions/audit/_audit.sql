-- purpose: notes a destructive call, in its own commit; called by the function that did it, last
-- locks in order: none
-- raises: nothing
-- idempotent how: none: each call is noted
-- index used: none
-- The actor and the request id come from the broker or the command through settings of its own transaction (lockstep.actor,
-- lockstep.request_id); who calls from psql is told by his role. Kept for 90 days, or for lockstep.audit_days, which
-- `alter database … set` gives.
create or replace function lockstep._audit(p_action text, p_target json, p_outcome json) returns void
language plpgsql volatile
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_now timestamptz := lockstep.clock();
  v_days text := current_setting('lockstep.audit_days', true);
begin
  insert into audit (id, at, actor, db_role, action, target, outcome, request_id, expires_at)
    values (lockstep.uuid7(), v_now, nullif(current_setting('lockstep.actor', true), ''), session_user, p_action,
            left(p_target::text, 8192), p_outcome::text, nullif(current_setting('lockstep.request_id', true), ''),
            v_now + make_interval(days => case when v_days ~ '^[0-9]{1,5}$' then v_days::int else 90 end)); -- LIMITS.auditDays
end
$$;
