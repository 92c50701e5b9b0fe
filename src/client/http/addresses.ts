// Which of several brokers a request goes to. What belongs together goes to the same one while it is well, so that its polls
// are woken by its pushes without a detour; one that failed is left alone for a while and then tried again. Any broker can
// answer anything: a choice saves time and decides nothing.

export interface Addresses {
  /** The best for this affinity among those that are well and not in `tried`; among all when none is. */
  choose(affinity: string | null, tried?: ReadonlySet<string>): string
  failed(base: string): void
  answered(base: string): void
  readonly count: number
}

const FIRST_REST_MS = 1_000
const LONGEST_REST_MS = 30_000

interface State {
  failures: number
  restsUntil: number
}

/** `own` decides where requests without an affinity go: another place for each client. */
export function createAddresses(
  bases: readonly string[],
  own: string = String(Math.random()),
  now: () => number = () => performance.now(),
): Addresses {
  const states = new Map<string, State>(bases.map((base) => [base, { failures: 0, restsUntil: 0 }]))

  function best(among: readonly string[], affinity: string): string | undefined {
    return among.toSorted((a, b) => weight(b, affinity) - weight(a, affinity))[0]
  }

  return {
    count: bases.length,
    choose(affinity, tried = new Set()) {
      const key = affinity ?? own
      const untried = bases.filter((base) => !tried.has(base))
      const well = untried.filter((base) => (states.get(base)?.restsUntil ?? 0) <= now())
      return best(well, key) ?? best(untried, key) ?? best(bases, key) ?? ''
    },
    failed(base) {
      const state = states.get(base)
      if (!state) return
      state.failures += 1
      state.restsUntil = now() + Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** (state.failures - 1))
    },
    answered(base) {
      const state = states.get(base)
      if (state && state.failures > 0) Object.assign(state, { failures: 0, restsUntil: 0 })
    },
  }
}

/** FNV-1a of both: each affinity has its own order of the brokers, and a lost one changes only what was its. */
function weight(base: string, affinity: string): number {
  let hash = 0x811c9dc5
  const text = `${base} ${affinity}`
  for (let at = 0; at < text.length; at++) {
    hash ^= text.charCodeAt(at)
    hash = Math.imul(hash, 0x01000193)
  }
  // Its last step hardly stirs the high bits, and these decide.
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x2c1b3c6d)
  return (hash ^ (hash >>> 12)) >>> 0
}
