// Ids are minted by whoever sends: version 7, so that neighbours in time are neighbours in an index. Nothing may depend on
// their order. Uses only what browsers have too.

const POOL_BYTES = 4096
let pool = new Uint8Array(0)
let used = 0

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** A new UUIDv7 in lower case. */
export function uuidV7(): string {
  if (used + 10 > pool.length) {
    pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES))
    used = 0
  }
  const at = used
  used += 10
  const time = Date.now().toString(16).padStart(12, '0')
  const hex = (index: number): string => HEX[pool[at + index] ?? 0] ?? '00'
  const version = HEX[0x70 | ((pool[at] ?? 0) & 0x0f)] ?? '70'
  const variant = HEX[0x80 | ((pool[at + 2] ?? 0) & 0x3f)] ?? '80'
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}${hex(1)}-${variant}${hex(3)}-${hex(4)}${hex(5)}${hex(6)}${hex(7)}${hex(8)}${hex(9)}`
}
