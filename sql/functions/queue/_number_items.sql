-- purpose: the slow half of storing: offsets and answers when ids repeat within the call, are known already, or room is short
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
create or replace function lockstep._number_items(
  p_partition_id bigint[], p_transaction_id text[], p_id uuid[], p_payload text[], p_first uuid[], p_differs boolean[],
  p_ids bigint[], p_heads bigint[], p_room bigint, p_judged boolean)
returns table (ord bigint, status text, first_id uuid, at bigint, differs boolean)
language plpgsql immutable
set search_path = pg_catalog, lockstep, pg_temp
as $$
begin
  return query
  with twin as (
    select i.*, row_number() over same as nth, first_value(i.id) over same as twin_id, first_value(i.payload) over same as twin_payload,
           min(i.ord) over same as twin_ord
      from unnest(p_partition_id, p_transaction_id, p_id, p_payload, p_first, p_differs)
           with ordinality i(partition_id, tx, id, payload, known, unlike, ord)
    window same as (partition by i.partition_id, case when p_judged then coalesce(i.tx, i.id::text) else i.id::text end order by i.ord)
  ), fresh as (
    select t.ord, t.partition_id, row_number() over (order by t.ord) as nth_fresh,
           row_number() over (partition by t.partition_id order by t.ord) - 1 as step
      from twin t where t.known is null and t.nth = 1 and t.partition_id is not null
  )
  select t.ord,
         case when t.known is not null then 'duplicate' when f.nth_fresh > p_room then 'queue_full'
              when t.nth = 1 then 'queued' else 'duplicate' end,
         coalesce(t.known, t.twin_id),
         case when t.known is null and t.nth = 1 and f.nth_fresh <= p_room
              then p_heads[array_position(p_ids, t.partition_id)] + f.step end,
         case when t.known is not null then t.unlike else t.nth > 1 and f.nth_fresh <= p_room and lockstep._differs(t.twin_payload, t.payload) end
    from twin t
    left join fresh f on f.ord = t.twin_ord;
end
$$;
