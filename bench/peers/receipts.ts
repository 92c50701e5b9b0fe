// The business table of the workload with a write, and the one insert into it. Every system has the unique job id, because
// some of them can only be told from a repeat by it.
import type { Order } from './peer.ts'

export const RECEIPT_TABLE = `create table receipt (
  id bigint generated always as identity primary key, job_id text not null unique, order_id text not null, amount int not null)`

export const INSERT = 'insert into receipt (job_id, order_id, amount) values ($1, $2, $3)'
/** Where the insert may be repeated. */
export const INSERT_ONCE = `${INSERT} on conflict (job_id) do nothing`

export function receipt(jobId: string, order: Order): string[] {
  return [jobId, order.orderId, String(order.amount)]
}
