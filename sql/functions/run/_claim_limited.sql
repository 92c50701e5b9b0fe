-- purpose: leases filed nodes of limits that have room; how many run is counted from live leases under the limit's lock
-- locks in order: limit (SKIP LOCKED), node (SKIP LOCKED)
-- raises: nothing
-- idempotent how: a node is leased once
-- index used: run_limit_due, node_limited, node_filed
create or replace function lockstep._claim_limited(
  p_wants text[], p_now timestamptz, p_left int, p_lease_id text, p_lease_ms bigint, out runs uuid[], out ordinals int[])
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp
as $$
declare
  v_limit run_limit;
  v_live int;
  v_room int;
  v_node node;
  v_taken int;
  v_next timestamptz;
  v_end timestamptz := p_now + make_interval(secs => p_lease_ms / 1000.0);
begin
  runs := '{}';
  ordinals := '{}';
  for v_limit in
    select * from run_limit l where l.want = any (p_wants) and l.available_at <= p_now
     order by l.available_at, l.want, l.key limit 64 for no key update skip locked
  loop
    exit when cardinality(runs) >= p_left;
    select count(*) into v_live from node n
     where n.want = v_limit.want and n.limit_key = v_limit.key and n.limited_until > p_now;
    v_room := least(v_limit.max - v_live, p_left - cardinality(runs));
    if v_limit.interval_ms is not null then
      v_room := least(v_room, case when coalesce(v_limit.next_allowed_at, p_now) <= p_now then 1 else 0 end);
    end if;
    v_taken := 0;
    if v_room > 0 then
      for v_node in
        select * from node n
         where n.want = v_limit.want and n.limit_key = v_limit.key and n.filed and n.available_at <= p_now
         order by n.priority desc, n.available_at limit v_room for no key update skip locked
      loop
        if v_node.lease_expires_at > p_now then
          update node n set available_at = n.lease_expires_at where n.run_id = v_node.run_id and n.ordinal = v_node.ordinal;
        elsif v_node.lease_id is not null and v_node.crashes + 1 > v_node.crash_limit then
          perform lockstep._bury_node(v_node, p_now);
        else
          runs := runs || v_node.run_id;
          ordinals := ordinals || v_node.ordinal;
          update node n
             set lease_id = p_lease_id, lease_expires_at = v_end, available_at = v_end, attempt = n.attempt + 1,
                 crashes = n.crashes + (n.lease_id is not null)::int
           where n.run_id = v_node.run_id and n.ordinal = v_node.ordinal;
          v_taken := v_taken + 1;
        end if;
      end loop;
    end if;
    -- Due again: at once while there is room and work, else when the next holder's lease ends or the next node is due.
    select min(n.available_at) into v_next from node n where n.want = v_limit.want and n.limit_key = v_limit.key and n.filed
       and n.available_at is not null;
    if v_limit.interval_ms is not null and v_taken > 0 then
      v_limit.next_allowed_at := greatest(coalesce(v_limit.next_allowed_at, p_now), p_now)
        + make_interval(secs => v_limit.interval_ms / 1000.0);
    end if;
    -- Also where none was taken: a node that ended made the limit due before it may start the next.
    if v_next < v_limit.next_allowed_at and v_limit.interval_ms is not null then
      v_next := v_limit.next_allowed_at;
    end if;
    if v_next <= p_now and v_live + v_taken >= v_limit.max then
      select min(n.limited_until) into v_next from node n
       where n.want = v_limit.want and n.limit_key = v_limit.key and n.limited_until > p_now;
    end if;
    update run_limit l set available_at = v_next, next_allowed_at = v_limit.next_allowed_at
     where l.want = v_limit.want and l.key = v_limit.key;
  end loop;
end
$$;
