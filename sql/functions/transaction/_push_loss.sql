-- purpose: the answer of a step that lost by a push
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
create or replace function lockstep._push_loss(p_pos int, p_reason text, p_message_id uuid, p_conflict boolean) returns text
language sql stable
as $$
  select pg_catalog.json_build_object('success', false, 'reason', p_reason, 'failedIndex', p_pos, 'messageId', p_message_id,
    'conflict', p_conflict)::text
$$;
