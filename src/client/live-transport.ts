// A transport that is opened at its first use and refuses everything once closed. A client that never spoke opened nothing;
// a failed opening is tried again by the next verb.
import { LockstepError } from '../protocol/errors.ts'
import type { Transport } from './transport.ts'

type Verb = (...given: never[]) => unknown
/** The members that are no verbs but hold some. */
type Room = { readonly [N in keyof Transport]: Transport[N] extends Verb ? never : N }[keyof Transport]

/** Stands for what is not there yet: each verb waits for it and is called on it. Nothing but verbs may be asked of it. */
function standIn<T extends object>(ready: () => Promise<T>, own: object = {}): T {
  const verbs = new Map<string | symbol, unknown>()
  const get = (_: object, name: string | symbol): unknown => {
    if (Object.hasOwn(own, name)) return Reflect.get(own, name)
    // Not a promise, whoever awaits it.
    if (name === 'then') return undefined
    const known = verbs.get(name)
    if (known !== undefined) return known
    const verb = async (...given: readonly unknown[]): Promise<unknown> => {
      const opened = await ready()
      return Reflect.apply(Object(Reflect.get(opened, name)), opened, given)
    }
    verbs.set(name, verb)
    return verb
  }
  // Every member that is asked for is made above, from the name alone; the compiler cannot follow that.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return new Proxy({}, { get }) as T
}

export function liveTransport(open: () => Promise<Transport>): Transport {
  let opened: Promise<Transport> | null = null
  let closed = false
  async function ready(): Promise<Transport> {
    if (closed) throw new LockstepError('closed', 'the client was closed')
    const opening = (opened ??= open())
    try {
      return await opening
    } catch (error) {
      if (opened === opening) opened = null
      throw error
    }
  }
  const room = <N extends Room>(name: N): Transport[N] => standIn(async () => (await ready())[name])
  // A room left out does not compile.
  const own: { readonly [N in Room | 'close']: Transport[N] } = {
    groups: room('groups'),
    queues: room('queues'),
    messages: room('messages'),
    traces: room('traces'),
    deadLetters: room('deadLetters'),
    runs: room('runs'),
    schedules: room('schedules'),
    async close() {
      closed = true
      const transport = await opened?.catch(() => null)
      await transport?.close()
    },
  }
  return standIn(ready, own)
}
