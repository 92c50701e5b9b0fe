-- purpose: judges the point operations and getMany of joined calls in memory, under locks the caller holds; writes nothing
-- locks in order: none (the caller called _kv_lock)
-- raises: LS403 kv_duplicate_key_in_call
-- idempotent how: reads only; a version that a loser had drawn is never used
-- index used: kv_pkey
-- One row per call: the verdict, and what to write if it stands. A call sees the writes of the calls before it that
-- stand, and nothing of one that a required operation aborted.
create or replace function lockstep._kv_judge(
  p_now timestamptz, p_call int[], p_pos int[], p_op text[], p_ns text[], p_key text[], p_value text[],
  p_expect bigint[], p_required boolean[], p_ttl bigint[], p_delta numeric[], p_min numeric[], p_max numeric[])
returns table (call_no int, ok boolean, answer text, write_ns text[], write_key text[], write_value text[],
  write_version bigint[], write_expires_at timestamptz[])
language plpgsql volatile security definer
set search_path = pg_catalog, lockstep, pg_temp set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  -- Lines in the order they are judged, each line's slot, and per slot the state of its key (version 0: absent).
  v_order int[];
  v_slot int[];
  v_version bigint[];
  v_value text[];
  v_expires timestamptz[];
  v_updated timestamptz[];
  -- Of the call being judged: slots written, their state before, result texts by position, getMany in progress.
  v_taken int[];
  v_undo int[];
  v_before lockstep.kv[];
  v_results text[];
  v_rows text;
  v_missing text;
  v_truncated boolean;
  v_budget bigint := 4 * 1024 * 1024;  -- LIMITS.kvReadBytes
  v_bytes bigint;
  v_expect bigint;
  v_reason text;
  v_text text;
  v_number numeric;
  v_fresh bigint;
  l int;
  s int;
begin
  select * into v_order, v_slot, v_version, v_value, v_expires, v_updated
    from lockstep._kv_state(p_now, p_call, p_pos, p_op, p_ns, p_key);

  for i in 1 .. coalesce(cardinality(v_order), 0) loop
    l := v_order[i];
    s := v_slot[l];
    if p_call[l] is distinct from call_no then
      call_no := p_call[l]; ok := true; v_results := '{}'; v_taken := '{}'; v_undo := '{}'; v_before := '{}';
      v_bytes := 0; v_rows := null;
      write_ns := '{}'; write_key := '{}'; write_value := '{}'; write_version := '{}'; write_expires_at := '{}';
    end if;
    if not ok then
      null;
    elsif p_op[l] = 'get' then
      v_results[p_pos[l]] := case when v_version[s] = 0 then '{"found":false}'
        else '{"found":true,' || lockstep._kv_row(v_value[s], v_version[s], v_expires[s], v_updated[s]) || '}' end;
    elsif p_op[l] = 'getPrefix' then
      -- Read after the writes by the caller, who puts the result in this place.
      v_results[p_pos[l]] := '{"prefix":' || p_pos[l] || '}';
    elsif p_op[l] = 'getMany' then
      if v_rows is null then
        v_rows := ''; v_missing := ''; v_truncated := false;
      end if;
      if p_key[l] is null or v_truncated then
        null;
      elsif v_version[s] = 0 then
        v_missing := v_missing || ',' || to_json(p_key[l])::text;
      elsif v_value[s] is null or v_bytes + octet_length(v_value[s]) > v_budget then
        v_truncated := true;
      else
        v_bytes := v_bytes + octet_length(v_value[s]);
        v_rows := v_rows || ',{"key":' || to_json(p_key[l])::text || ','
          || lockstep._kv_row(v_value[s], v_version[s], v_expires[s], v_updated[s]) || '}';
      end if;
      if i = cardinality(v_order) or p_call[v_order[i + 1]] <> call_no or p_pos[v_order[i + 1]] <> p_pos[l] then
        v_results[p_pos[l]] := '{"rows":[' || substr(v_rows, 2) || '],"missing":[' || substr(v_missing, 2)
          || '],"truncated":' || v_truncated::text || '}';
        v_rows := null;
      end if;
    else
      if p_op[l] <> 'check' then
        if s = any (v_taken) then
          raise exception using errcode = 'LS403', detail = 'kv_duplicate_key_in_call',
            message = format('key %L of %L is written twice in one call', p_key[l], p_ns[l]);
        end if;
        v_taken := v_taken || s;
      end if;
      v_expect := case when p_op[l] = 'putIfAbsent' then 0 else p_expect[l] end;
      v_reason := case
        when v_expect = 0 and v_version[s] > 0 then 'exists'
        when v_version[s] = 0 and (v_expect > 0 or p_op[l] = 'delete') then 'absent'
        when v_expect > 0 and v_expect <> v_version[s] then 'version' end;
      if p_op[l] = 'incr' then
        v_number := case when v_version[s] = 0 then 0 else lockstep._kv_number(v_value[s]) end + p_delta[l];
        v_text := trim_scale(v_number)::text;
        v_reason := case when v_number is null then 'type'
          when v_number > p_max[l] or v_number < p_min[l] or octet_length(v_text) > 65536 then 'limit' end;
      end if;
      if v_reason is null then
        v_fresh := v_version[s];
        if p_op[l] <> 'check' then
          v_undo := v_undo || s;
          v_before := v_before || row(p_ns[l], p_key[l], v_value[s], v_version[s], v_expires[s], v_updated[s])::lockstep.kv;
          -- The row is locked: from here on its version only rises.
          v_fresh := nextval('lockstep.kv_version');
          if p_op[l] = 'delete' then
            v_version[s] := 0; v_value[s] := 'null'; v_expires[s] := '-infinity';
          else
            if p_op[l] <> 'incr' or v_version[s] = 0 then
              v_expires[s] := p_now + make_interval(secs => p_ttl[l]);
            end if;
            v_version[s] := v_fresh;
            v_value[s] := case when p_op[l] = 'incr' then v_text else p_value[l] end;
          end if;
          v_updated[s] := p_now;
          write_ns := write_ns || p_ns[l]; write_key := write_key || p_key[l]; write_value := write_value || v_value[s];
          write_version := write_version || v_fresh; write_expires_at := write_expires_at || v_expires[s];
        end if;
        v_results[p_pos[l]] := '{"applied":true,"version":' || v_fresh
          || case when p_op[l] = 'incr' then ',"value":' || to_json(v_text)::text else '' end || '}';
      else
        if v_version[s] > 0 and v_value[s] is null then
          select c.value into v_text from kv c where c.ns = p_ns[l] and c.key = p_key[l];
          v_value[s] := v_text;
        end if;
        v_text := '"version":' || v_version[s] || ',"value":'
          || case when v_version[s] = 0 then 'null' else to_json(v_value[s])::text end || '}';
        if p_required[l] then
          ok := false;
          answer := '{"ok":false,"failedIndex":' || p_pos[l] || ',"kvReason":"' || v_reason || '",' || v_text;
          write_ns := '{}'; write_key := '{}'; write_value := '{}'; write_version := '{}'; write_expires_at := '{}';
          for j in 1 .. cardinality(v_undo) loop
            v_version[v_undo[j]] := v_before[j].version; v_value[v_undo[j]] := v_before[j].value;
            v_expires[v_undo[j]] := v_before[j].expires_at; v_updated[v_undo[j]] := v_before[j].updated_at;
          end loop;
        else
          v_results[p_pos[l]] := '{"applied":false,"reason":"' || v_reason || '",' || v_text;
        end if;
      end if;
    end if;
    if i = cardinality(v_order) or p_call[v_order[i + 1]] <> call_no then
      if ok then
        answer := '{"ok":true,"results":[' || array_to_string(v_results, ',') || ']}';
      end if;
      return next;
    end if;
  end loop;
end
$$;
