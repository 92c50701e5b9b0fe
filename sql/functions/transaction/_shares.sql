-- purpose: the steps of a joined call that touch something an earlier step of the call touches: they wait for the next call,
--   so that the others can be judged side by side
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
create or replace function lockstep._shares(
  p_request_id text[], p_kv_step int[], p_kv_op text[], p_kv_ns text[], p_kv_key text[],
  p_ack_step int[], p_ack_queue int[], p_ack_partition bigint[], p_ack_group text[],
  p_push_step int[], p_push_queue text[], p_push_partition text[], p_push_tx text[],
  p_timer_step int[], p_timer_queue text[], p_timer_key text[]) returns int[]
language sql immutable
set search_path = pg_catalog, lockstep, pg_temp
as $$
  select coalesce(array_agg(distinct u.step), '{}')
    from (
      select i.ord::int as step, i.id, min(i.ord) over (partition by i.id) as first
        from unnest(p_request_id) with ordinality i(id, ord) where i.id is not null
      union all
      -- A read behind a write too: the writer may still lose by its acks or pushes, or only repeat what it did once.
      select k.step, null, min(k.step) filter (where k.op not in ('get', 'getMany')) over (partition by k.ns, k.key)
        from unnest(p_kv_step, p_kv_op, p_kv_ns, p_kv_key) k(step, op, ns, key)
      union all
      select a.step, null, min(a.step) over (partition by a.queue, a.partition, a.grp)
        from unnest(p_ack_step, p_ack_queue, p_ack_partition, p_ack_group) a(step, queue, partition, grp)
      union all
      select p.step, null, min(p.step) over (partition by p.queue, p.partition, p.tx)
        from unnest(p_push_step, p_push_queue, p_push_partition, p_push_tx) p(step, queue, partition, tx) where p.tx is not null
      union all
      select t.step, null, min(t.step) over (partition by t.queue, t.key)
        from unnest(p_timer_step, p_timer_queue, p_timer_key) t(step, queue, key)
    ) u
   where u.step > u.first
$$;
