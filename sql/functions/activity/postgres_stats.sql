-- purpose: sizes of this schema's tables and what the sessions of this database do, as one JSON document
-- locks in order: none
-- raises: nothing
-- idempotent how: reads only
-- index used: none (statistics views)
create or replace function lockstep.postgres_stats() returns text
language sql stable security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select json_build_object(
    'databaseBytes', pg_database_size(current_database()),
    'tables', (
      select coalesce(json_agg(json_build_object('table', s.relname, 'bytes', pg_total_relation_size(s.relid),
               'liveRows', s.n_live_tup, 'deadRows', s.n_dead_tup) order by pg_total_relation_size(s.relid) desc), '[]')
        from pg_stat_user_tables s where s.schemaname = 'lockstep'),
    'sessions', (
      select json_build_object('active', count(*) filter (where a.state = 'active'), 'idle', count(*) filter (where a.state = 'idle'),
               'idleInTransaction', count(*) filter (where a.state like 'idle in transaction%'))
        from pg_stat_activity a where a.datname = current_database()),
    'oldestTransactionSeconds', (
      select coalesce(max(extract(epoch from lockstep.clock() - a.xact_start)), 0)
        from pg_stat_activity a where a.datname = current_database() and a.pid <> pg_backend_pid()))::text
$$;
