-- purpose: the part of a row's JSON that follows its key; the value travels as a JSON string of its own text
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
create or replace function lockstep._kv_row(p_value text, p_version bigint, p_expires_at timestamptz, p_updated_at timestamptz)
returns text
language sql stable parallel safe
as $$
  select '"value":' || coalesce(pg_catalog.to_json(p_value)::text, 'null') || ',"version":' || p_version
    || ',"expiresAt":' || coalesce('"' || lockstep.instant_text(p_expires_at) || '"', 'null')
    || ',"updatedAt":"' || lockstep.instant_text(p_updated_at) || '"'
$$;
