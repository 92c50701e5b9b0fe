-- purpose: what has been due for a minute and is known by no live worker: its want, how many (to 10001), for how many seconds,
--   and the other versions of it that live workers have
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: node_ready, node_filed; workflow_version is small
create or replace function lockstep.unclaimed_work()
returns table (want text, waiting bigint, seconds bigint, versions text)
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  with recursive moment as materialized (select lockstep.clock() as at), ready as (
    (select min(n.want) as want from node n where n.available_at is not null and not n.filed)
    union all
    select (select min(n.want) from node n where n.available_at is not null and not n.filed and n.want > r.want)
    from ready r where r.want is not null
  ), filed as (
    (select min(n.want) as want from node n where n.available_at is not null and n.filed)
    union all
    select (select min(n.want) from node n where n.available_at is not null and n.filed and n.want > f.want)
    from filed f where f.want is not null
  ), live as (
    select w.name, w.kind, w.version,
           case w.kind when 'graph' then 'plan:' || w.name || '@' || w.version
             when 'code' then 'flow:' || w.name || coalesce('@' || nullif(w.version, ''), '') else w.name end as want
    from workflow_version w cross join moment m where w.last_seen_at > m.at - interval '3 minutes'
  )
  select d.want, o.waiting, o.seconds,
         (select string_agg(l.version, ', ' order by l.version) from live l
          where l.version <> '' and l.kind = case split_part(d.want, ':', 1) when 'plan' then 'graph' when 'flow' then 'code' end
            and starts_with(d.want, case l.kind when 'graph' then 'plan:' else 'flow:' end || l.name || '@'))
  from moment m
  cross join (select r.want from ready r where r.want is not null union select f.want from filed f where f.want is not null) d
  cross join lateral (
    select count(*) as waiting, extract(epoch from m.at - min(n.available_at))::bigint as seconds
    from (select u.available_at from node u
          where u.want = d.want and u.available_at < m.at - interval '1 minute' limit 10001) n) o
  where o.waiting > 0
    and not exists (select 1 from live l where l.want = d.want)
    -- Claimed just now it stands among the due ones; from its first heartbeat on behind them.
    and not exists (select 1 from node n where n.want = d.want and n.available_at > m.at and n.lease_expires_at > m.at)
    and not exists (
      select 1 from (select u.lease_expires_at from node u where u.want = d.want and u.available_at <= m.at limit 10001) n
       where n.lease_expires_at > m.at)
  order by 1
  limit 20
$$;
