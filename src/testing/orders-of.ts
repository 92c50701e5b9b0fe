// Every order in which the steps of several sessions can follow each other, each session's own order kept.

/** Every sequence of session numbers with that many steps each. */
export function ordersOf(counts: readonly number[]): readonly (readonly number[])[] {
  if (counts.every((count) => count === 0)) return [[]]
  return counts.flatMap((count, at) =>
    count === 0
      ? []
      : ordersOf(counts.map((other, place) => (place === at ? other - 1 : other))).map((rest) => [at, ...rest]),
  )
}
