-- purpose: one bounded step in deleting the messages that retention cut off their logs; null: there is none, or others are at it
-- locks in order: none that a verb takes (cuts by SKIP LOCKED; messages that nobody reads any more)
-- raises: nothing
-- idempotent how: a cut goes with the last of its messages
-- index used: log_cut_pkey, message_pkey
-- At most 5,000 messages, and fewer when their payloads together pass 64 MiB as stored. Answers how many it deleted.
create or replace function lockstep.remove_cut() returns int
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_limit constant int := 5000;
  v_bytes constant bigint := 67108864;
  v_queue_id int;
  v_cuts log_cut[];
  v_ids bigint[];
  v_offsets bigint[];
  v_last bigint;
begin
  select c.queue_id into v_queue_id from log_cut c order by c.queue_id limit 1;
  if not found then
    return null;
  end if;
  with locked as materialized (
    select c.* from log_cut c where c.queue_id = v_queue_id
     order by c.partition_id, c.to_offset limit 500 for no key update skip locked
  )
  select array_agg(row(d.queue_id, d.partition_id, d.from_offset, d.to_offset)::log_cut) into v_cuts from locked d;
  if v_cuts is null then
    return null;
  end if;
  select array_agg(f.partition_id), array_agg(f."offset") into v_ids, v_offsets
    from (select m.partition_id, m."offset", m.stored,
                 sum(m.stored) over (order by m.partition_id, m."offset") as upto
            from (select k.partition_id, k."offset", pg_column_size(k.payload) as stored
                    from unnest(v_cuts) c
                   cross join lateral (
                     select * from message k
                      where k.queue_id = v_queue_id and k.partition_id = c.partition_id
                        and k."offset" >= c.from_offset and k."offset" < c.to_offset
                      order by k."offset" limit v_limit) k
                   order by k.partition_id, k."offset" limit v_limit) m) f
   where f.upto - f.stored < v_bytes;
  delete from message m
   using unnest(v_ids, v_offsets) d(id, at)
   where m.queue_id = v_queue_id and m.partition_id = d.id and m."offset" = d.at;
  v_last := cardinality(v_ids);
  -- Behind the last deleted one there may be more; without any nothing is left of these cuts.
  delete from log_cut c
   using unnest(v_cuts) d
   where c.queue_id = v_queue_id and c.partition_id = d.partition_id and c.to_offset = d.to_offset
     and (v_last is null or d.partition_id < v_ids[v_last]
          or (d.partition_id = v_ids[v_last] and d.to_offset <= v_offsets[v_last] + 1));
  update log_cut c set from_offset = v_offsets[v_last] + 1
   where c.queue_id = v_queue_id and c.partition_id = v_ids[v_last]
     and c.from_offset <= v_offsets[v_last] and c.to_offset > v_offsets[v_last] + 1;
  return coalesce(v_last, 0);
end
$$;
