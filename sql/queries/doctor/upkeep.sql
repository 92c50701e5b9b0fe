-- purpose: connections of processes that take part in upkeep: every broker and every client straight on PostgreSQL
-- index used: none (statistics view)
select count(*)
from pg_catalog.pg_stat_activity a
where a.datname = current_database() and a.pid <> pg_backend_pid()
  and a.application_name like 'lockstep%' and a.application_name not in ('lockstep command', 'lockstep doctor')
