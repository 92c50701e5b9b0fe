-- purpose: the options of a queue: name on the wire, column, kind, default as JSON, bounds; a test holds it to the protocol's table
-- locks in order: none
-- raises: nothing
-- idempotent how: pure
-- index used: none
create or replace function lockstep._queue_option()
returns table (name text, column_name text, kind text, fallback jsonb, least_value bigint, greatest_value bigint)
language sql immutable parallel safe
as $$
  select v.name, v.column_name, v.kind, v.fallback::jsonb, v.least_value::bigint, v.greatest_value::bigint
    from (values
    ('leaseTime', 'lease_seconds', 'integer', '300', 1, 604800),
    ('retryLimit', 'retry_limit', 'integer', '3', 0, 1000000),
    ('retryDelay', 'retry_delay_ms', 'integer', '1000', 0, 86400000),
    ('retryDelayMax', 'retry_delay_max_ms', 'integer', '3600000', 0, 86400000),
    ('deadLetterQueue', 'dead_letter_queue', 'boolean', 'true', null, null),
    ('dlqAfterMaxRetries', 'dlq_after_max_retries', 'boolean', 'true', null, null),
    ('crashLimit', 'crash_limit', 'integer', '10', 0, 1000000),
    ('requireLease', 'require_lease', 'boolean', 'false', null, null),
    ('dedupWindowSeconds', 'dedup_window_seconds', 'integer', '3600', null, 31536000),
    ('maxSize', 'max_size', 'integer', '0', 0, 9007199254740991),
    ('delayedProcessing', 'delayed_processing_seconds', 'integer', '0', 0, 31536000),
    ('windowBuffer', 'window_buffer_seconds', 'integer', '0', 0, 31536000),
    ('minPopWaitTime', 'min_pop_wait_ms', 'integer', '0', 0, 60000),
    ('retentionEnabled', 'retention_enabled', 'boolean', 'false', null, null),
    ('retentionSeconds', 'retention_seconds', 'integer', '0', 0, 3155760000),
    ('completedRetentionSeconds', 'completed_retention_seconds', 'integer', '0', 0, 3155760000),
    ('maxWaitTimeSeconds', 'max_wait_seconds', 'integer', '0', 0, 3155760000),
    ('deadLetterRetentionSeconds', 'dead_letter_retention_seconds', 'integer', '0', 0, 3155760000),
    ('encryptionEnabled', 'encryption_enabled', 'boolean', 'false', null, null),
    ('priority', 'priority', 'integer', '0', -2147483648, 2147483647),
    ('ttl', 'ttl_seconds', 'integer', '3600', 0, 3155760000),
    ('retentionSinkHold', 'retention_sink_hold', 'text', '""', null, null),
    ('retentionSinkHoldMaxSeconds', 'retention_sink_hold_max_seconds', 'integer', '604800', 0, 31536000)
  ) v(name, column_name, kind, fallback, least_value, greatest_value)
$$;
