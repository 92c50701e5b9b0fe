-- purpose: the complete effective options of a queue by their names on the wire
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
create or replace function lockstep.queue_options(p_queue lockstep.queue) returns json
language sql stable parallel safe
as $$
  select pg_catalog.json_build_object(
    'leaseTime', p_queue.lease_seconds,
    'retryLimit', p_queue.retry_limit,
    'retryDelay', p_queue.retry_delay_ms,
    'retryDelayMax', p_queue.retry_delay_max_ms,
    'deadLetterQueue', p_queue.dead_letter_queue,
    'dlqAfterMaxRetries', p_queue.dlq_after_max_retries,
    'crashLimit', p_queue.crash_limit,
    'requireLease', p_queue.require_lease,
    'dedupWindowSeconds', p_queue.dedup_window_seconds,
    'maxSize', p_queue.max_size,
    'delayedProcessing', p_queue.delayed_processing_seconds,
    'windowBuffer', p_queue.window_buffer_seconds,
    'minPopWaitTime', p_queue.min_pop_wait_ms,
    'retentionEnabled', p_queue.retention_enabled,
    'retentionSeconds', p_queue.retention_seconds,
    'completedRetentionSeconds', p_queue.completed_retention_seconds,
    'maxWaitTimeSeconds', p_queue.max_wait_seconds,
    'deadLetterRetentionSeconds', p_queue.dead_letter_retention_seconds,
    'encryptionEnabled', p_queue.encryption_enabled,
    'priority', p_queue.priority,
    'ttl', p_queue.ttl_seconds,
    'retentionSinkHold', p_queue.retention_sink_hold,
    'retentionSinkHoldMaxSeconds', p_queue.retention_sink_hold_max_seconds)
$$;
