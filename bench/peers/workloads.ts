// Every row of the comparison.
import type { Workload } from './workload.ts'
import { drain } from './workloads/drain.ts'
import { enqueueBatch, enqueueOne, enqueueTx } from './workloads/enqueue.ts'
import { latency } from './workloads/latency.ts'

export const WORKLOADS: readonly Workload[] = [
  {
    name: 'enqueue-one',
    what: 'enqueue one by one from 20 callers',
    unit: 'jobs/s',
    times: 1,
    measure: enqueueOne,
  },
  {
    name: 'enqueue-batch',
    what: 'enqueue in batches of 500 from 4 callers',
    unit: 'jobs/s',
    times: 1,
    measure: enqueueBatch,
  },
  {
    name: 'enqueue-tx',
    what: 'BEGIN; insert; enqueue; COMMIT on 20 connections of the application',
    unit: 'jobs/s',
    times: 1,
    measure: enqueueTx,
  },
  { name: 'drain-1', what: 'drain, concurrency 1', unit: 'jobs/s', times: 1, measure: drain('job', 1) },
  { name: 'drain-10', what: 'drain, concurrency 10', unit: 'jobs/s', times: 1, measure: drain('job', 10) },
  { name: 'drain-50', what: 'drain, concurrency 50', unit: 'jobs/s', times: 1, measure: drain('job', 50) },
  {
    name: 'write',
    what: "drain with one business insert in each job's completion transaction, concurrency 50",
    unit: 'jobs/s',
    times: 3,
    measure: drain('write', 50),
  },
  {
    name: 'code',
    what: 'workflows of 3 steps in code, concurrency 50',
    unit: 'workflows/s',
    times: 4,
    measure: drain('code', 50),
  },
  {
    name: 'graph',
    what: 'workflows of 3 nodes in a row as a graph, concurrency 50',
    unit: 'workflows/s',
    times: 4,
    measure: drain('graph', 50),
  },
  {
    name: 'latency',
    what: 'from COMMIT in one process to the start of the handler in another, 10 jobs/s',
    unit: 'ms',
    times: 1,
    measure: latency,
  },
]
