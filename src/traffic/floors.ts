// Remembers, per queue and group, from where the next look for due lanes may start, so that it need not step over dead index
// entries. It is a saving only: once per second a look starts from the beginning, so a wrong floor hides a lane for a second.

const FULL_SCAN_MS = 1_000
const KEPT = 10_000

interface Floor {
  value: string | null
  scannedAt: number
}

export interface Floors {
  /** The floor to look from; null means from the beginning. */
  take(queue: string, group: string): string | null
  put(queue: string, group: string, floor: string | null): void
  /** After a seek or a deletion the old floor means nothing; without a group, of the whole queue. */
  forget(queue: string, group: string | null): void
  clear(): void
}

export function createFloors(now: () => number = () => performance.now()): Floors {
  const floors = new Map<string, Floor>()
  const keyOf = (queue: string, group: string): string => `${queue}\0${group}`

  return {
    take(queue, group) {
      const key = keyOf(queue, group)
      const floor = floors.get(key)
      const at = now()
      if (floor === undefined) {
        if (floors.size >= KEPT) floors.clear()
        floors.set(key, { value: null, scannedAt: at })
        return null
      }
      if (at - floor.scannedAt >= FULL_SCAN_MS) {
        floor.scannedAt = at
        return null
      }
      return floor.value
    },
    put(queue, group, value) {
      const floor = floors.get(keyOf(queue, group))
      if (floor) floor.value = value
    },
    forget(queue, group) {
      if (group !== null) floors.delete(keyOf(queue, group))
      else for (const key of floors.keys()) if (key.startsWith(`${queue}\0`)) floors.delete(key)
    },
    clear: () => floors.clear(),
  }
}
