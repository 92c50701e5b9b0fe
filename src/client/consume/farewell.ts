// How a stopping consumer gives up its polls. Through a broker, an answer and a farewell may cross: what the poll brings is then leased
// and read by nobody until the lease lapses. So a poll that was sent just now is let answer first, and what is handed back waits
// until the others are known to be gone, because it would go to one of them. In process a poll is gone when it is given up.

/** A poll that finds something answers within this time; an older one waits for something to come. */
const ANSWER_MS = 250
/** Until a broker has heard that nobody reads any more. */
const HEARD_MS = 100

export interface Farewell {
  /** Gives up a poll that was sent at this time. What it gives back is called when the poll has answered after all. */
  readonly giveUp: (sentAt: number, abort: () => void) => () => void
  /** Resolves when those that were given up are gone. */
  readonly heard: () => Promise<void>
}

export function farewell(inProcess: boolean): Farewell {
  let gone: Promise<void> = Promise.resolve()
  return {
    giveUp(sentAt, abort) {
      const leave = (): void => {
        abort()
        if (inProcess) return
        gone = new Promise((resolve) => {
          setTimeout(resolve, HEARD_MS)
        })
      }
      const youngMs = inProcess ? 0 : ANSWER_MS - (performance.now() - sentAt)
      if (youngMs <= 0) {
        leave()
        return () => {}
      }
      const timer = setTimeout(leave, youngMs)
      return () => clearTimeout(timer)
    },
    heard: async () => gone,
  }
}
