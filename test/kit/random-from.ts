/** Mulberry32: small, seeded, the same everywhere; good enough to shuffle and to choose by. */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Of this run, or the one to replay. */
export function seedOfRun(): number {
  return Number(process.env['LOCKSTEP_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
}
