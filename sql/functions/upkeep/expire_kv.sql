-- purpose: removes keys that expired an hour ago, among the next 1,000 of one namespace after (p_ns, p_key)
-- locks in order: kv (ns, key), SKIP LOCKED
-- raises: nothing
-- idempotent how: judged again under the lock; a key written meanwhile stays
-- index used: kv_pkey
-- The hour keeps the version of a deleted key rising for whoever still holds the old one. There is no index on the expiry:
-- it would cost every put of a new ttl its HOT update. Answers where to go on; null: the end was reached.
create or replace function lockstep.expire_kv(
  p_ns text, p_key text, out next_ns text, out next_key text, out removed int)
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_from text;
  v_keys text[];
  v_before timestamptz := lockstep.clock() - interval '1 hour';
begin
  removed := 0;
  select k.ns into next_ns from kv k where (k.ns, k.key) > (p_ns, p_key) order by k.ns, k.key limit 1;
  if next_ns is null then
    return;
  end if;
  v_from := case when next_ns = p_ns collate "C" then p_key else '' end;
  select max(c.key), array_agg(c.key) filter (where c.expires_at < v_before)
    into next_key, v_keys
    from (select k.key, k.expires_at from kv k where k.ns = next_ns and k.key > v_from order by k.key limit 1000) c;
  if v_keys is null then
    return;
  end if;
  v_keys := array(
    select k.key from kv k where k.ns = next_ns and k.key = any (v_keys) and k.expires_at < v_before
     order by k.key for no key update skip locked);
  delete from kv k where k.ns = next_ns and k.key = any (v_keys) and k.expires_at < v_before;
  get diagnostics removed = row_count;
end
$$;
