// The payloads: the same order event for every system, told apart by its id.
import type { Order } from './peer.ts'

const NOTE =
  'northbound-warehouse-7/shelf-19/left, handle with care; ring twice, leave with the neighbour if nobody opens'
let last = 0

export function orders(count: number): readonly Order[] {
  return Array.from({ length: count }, () => order(''))
}

export function order(sentNs: string): Order {
  last += 1
  return { orderId: `${process.pid}-${last}`, status: 'paid', amount: 12345, note: NOTE, sentNs }
}
