// The payload of every row: about 200 bytes of JSON, as an order event has them.
const FILLER =
  'northbound-warehouse-7/shelf-19/left, handle with care; ring twice, leave with the neighbour if nobody opens'

export function payload(number: number): string {
  return `{"orderId":"order-${number}","status":"paid","amount":12345,"note":"${FILLER}"}`
}
