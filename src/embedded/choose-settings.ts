// Server settings for a development machine: sized from the memory this process may use, durable unless `fast` says that
// the data may be lost. `fast` is for tests only: nothing that a person keeps may run with it.

import { totalmem } from 'node:os'

const MIB = 1024 * 1024

/** Settings for `postgres -c name=value`. */
export function chooseSettings(fast: boolean): Record<string, string> {
  const memory = availableMemory()
  // Small steps on hot rows: the working set is small, and past 1 GiB the fork of 300 connections costs more than it saves.
  const buffers = clamp(Math.floor(memory / 8 / MIB), 64, 1024)
  return {
    max_connections: '300',
    shared_buffers: `${fast ? Math.min(buffers, 128) : buffers}MB`,
    effective_cache_size: `${clamp(Math.floor(memory / 2 / MIB), 128, 65_536)}MB`,
    maintenance_work_mem: '64MB',
    max_wal_size: '2GB',
    checkpoint_timeout: '15min',
    random_page_cost: '1.1',
    // Statements here last well under a millisecond: compiling one costs more than running it.
    jit: 'off',
    // Queue tables turn over fast; the default minute lets dead rows pile up between two looks.
    autovacuum_naptime: '10s',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(fast ? { fsync: 'off', full_page_writes: 'off' } : {}),
  }
}

function availableMemory(): number {
  // Node gives a container's limit here, and 0 or an absurd number when there is none.
  const limit = process.constrainedMemory()
  return limit > 0 && limit < totalmem() ? limit : totalmem()
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}
