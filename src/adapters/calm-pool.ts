// A backend that ends under a client which is checked out makes that client emit `error`, and a process without a listener
// ends by it. This listens on every client of a `pg` pool; whoever waits for a statement still gets the error from it.

const calmed = new WeakSet<object>()
const ignore = (): void => {}

function calm(emitter: unknown): void {
  if (typeof emitter !== 'object' || emitter === null || calmed.has(emitter)) return
  const on: unknown = Reflect.get(emitter, 'on')
  if (typeof on !== 'function') return
  calmed.add(emitter)
  Reflect.apply(on, emitter, ['error', ignore])
}

/** Does nothing to what is no pool. */
export function calmPool(pool: unknown): void {
  if (typeof pool !== 'object' || pool === null || calmed.has(pool)) return
  const on: unknown = Reflect.get(pool, 'on')
  if (typeof on !== 'function' || typeof Reflect.get(pool, 'totalCount') !== 'number') return
  calm(pool)
  // Not at `connect` alone: clients that were there before are met when they are next checked out.
  Reflect.apply(on, pool, ['connect', calm])
  Reflect.apply(on, pool, ['acquire', calm])
}
