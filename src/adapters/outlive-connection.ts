// postgres.js 3.4 ends the process when its callback's transaction goes on after the connection was closed: it then writes its
// own COMMIT or ROLLBACK to a socket that is gone. Its promise has rejected by then, so here the callback is kept from going on.

interface Boxed<R> {
  /** A list by itself would be taken for statements to wait for. */
  readonly result: R
}

/** Opens by `open` and runs the body in it; `isGone` tells the body that the connection was closed. */
export async function outliveConnection<Tx, R>(
  open: (body: (tx: Tx) => Promise<Boxed<R>>) => PromiseLike<Boxed<R>>,
  body: (tx: Tx, isGone: () => boolean) => Promise<R>,
): Promise<R> {
  let gone = false
  const begun = (async () =>
    open(async (tx) => {
      try {
        const result = await body(tx, () => gone)
        return gone ? await never() : { result }
      } catch (error) {
        // A statement is rejected just before the transaction is.
        await new Promise((go) => setImmediate(go))
        if (gone) return never()
        throw error
      }
    }))()
  begun.catch(() => {
    gone = true
  })
  return (await begun).result
}

function never(): Promise<never> {
  return new Promise(() => {})
}
