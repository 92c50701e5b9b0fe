-- purpose: the transactions that are open longest and the oldest snapshot anything holds; both keep dead rows alive
-- index used: none (statistics views)
select
  coalesce((
    select ceil(extract(epoch from lockstep.clock() - min(a.xact_start)))::bigint
    from pg_catalog.pg_stat_activity a
    where a.datname = current_database() and a.backend_type = 'client backend' and a.pid <> pg_backend_pid()
  ), 0),
  coalesce((
    select a.pid from pg_catalog.pg_stat_activity a
    where a.datname = current_database() and a.backend_type = 'client backend' and a.pid <> pg_backend_pid()
      and a.xact_start is not null
    order by a.xact_start limit 1
  ), 0),
  coalesce((
    select max(age(held.snapshot))
    from (
      select a.backend_xmin as snapshot from pg_catalog.pg_stat_activity a where a.pid <> pg_backend_pid()
      union all
      select p.transaction from pg_catalog.pg_prepared_xacts p
    ) held
  ), 0),
  (select count(*) from pg_catalog.pg_prepared_xacts p where p.database = current_database()),
  (select count(*) from pg_catalog.pg_replication_slots s where not s.active),
  (select age(d.datfrozenxid) from pg_catalog.pg_database d where d.datname = current_database()),
  -- Without it the start of other roles' transactions is hidden.
  pg_has_role('pg_read_all_stats', 'usage')::int
