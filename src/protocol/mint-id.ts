// Mints UUIDv7 ids: message ids, lease ids, transaction ids. Within one process they rise strictly, also inside one
// millisecond and when the wall clock steps back; nothing ever compares their time with the database's.

const POOL = 4096
const pool = new Uint8Array(POOL)
let used = POOL
let lastMs = 0
let counter = 0

const HEX: readonly string[] = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, '0'))

function byte(): number {
  if (used === POOL) {
    crypto.getRandomValues(pool)
    used = 0
  }
  return pool[used++] ?? 0
}

const hex = (value: number): string => HEX[value & 0xff] ?? '00'

let stampedMs = -1
let stamp = ''

/** A new UUIDv7 in lower case. */
export function mintId(): string {
  const now = Date.now()
  if (now > lastMs) {
    lastMs = now
    // Start low enough that a millisecond can mint 2,000 ids before it borrows the next one.
    counter = ((byte() << 8) | byte()) & 0x7ff
  } else if (++counter > 0xfff) {
    lastMs += 1
    counter = 0
  }
  if (lastMs !== stampedMs) {
    const time = lastMs.toString(16).padStart(12, '0')
    stamp = `${time.slice(0, 8)}-${time.slice(8)}-7`
    stampedMs = lastMs
  }
  const sequence = (0x1000 | counter).toString(16).slice(1)
  return `${stamp}${sequence}-${hex(0x80 | (byte() & 0x3f))}${hex(byte())}-${hex(byte())}${hex(byte())}${hex(byte())}${hex(byte())}${hex(byte())}${hex(byte())}`
}
