-- purpose: what kind of server this is and with which settings it would trap an application
-- index used: none (catalog and settings)
select
  current_setting('server_version_num'),
  current_setting('server_version'),
  current_database(),
  current_user,
  (select pg_encoding_to_char(encoding) from pg_catalog.pg_database where datname = current_database()),
  pg_is_in_recovery(),
  -- What a new session of this role would get: a value set in this transaction would hide it.
  (select reset_val from pg_catalog.pg_settings where name = 'default_transaction_isolation'),
  (select reset_val from pg_catalog.pg_settings where name = 'default_transaction_read_only'),
  current_setting('fsync'),
  current_setting('autovacuum'),
  current_setting('max_connections')
