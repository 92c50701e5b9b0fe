// A workflow that messages start: each message of a group starts one run, submitted in the commit that acks the message. So a
// run exists exactly when its message is done with, and a message that comes again finds its run instead of starting a second.
import type { ConsumeResult } from '../../client/consume/consume-loop.ts'
import type { Message } from '../../client/message.ts'
import type { StartStep } from '../../client/consume/work-start.ts'
import type { ConsumeOptions } from '../../client/queue-builder.ts'
import type { Startable, SubmitOptions } from './submitter.ts'

/** How a queue is consumed here; not for others. */
export const STARTS: unique symbol = Symbol('startOn')

/** A queue of a client; its group, concurrency and the like are said before. */
export interface StartingQueue<Data> {
  [STARTS](step: StartStep<Data>, options: ConsumeOptions): Promise<ConsumeResult>
}

export type StartOnOptions = ConsumeOptions & Omit<SubmitOptions, 'key' | 'onKnownKey'>

/** From a message to the run's input; undefined: this message starts nothing. */
export type InputOf<Data, In> = (message: Message<Data>) => In | undefined | Promise<In | undefined>

export interface StartVerb<In> {
  /**
   * Consumes the queue: each message starts a run in the commit of its ack, with the message's data as its input. One run
   * per message, also when the message is read again.
   */
  startOn<Data extends In>(queue: StartingQueue<Data>, options?: StartOnOptions): Promise<ConsumeResult>
  startOn<Data>(queue: StartingQueue<Data>, input: InputOf<Data, In>, options?: StartOnOptions): Promise<ConsumeResult>
}

export function startVerb<In, Out>(self: () => Startable<In, Out>): StartVerb<In> {
  async function start<Data>(
    queue: StartingQueue<Data>,
    inputOf: InputOf<Data, In>,
    { signal, onInvalid, ...options }: StartOnOptions,
  ): Promise<ConsumeResult> {
    return queue[STARTS](
      async (message, transaction) => {
        const input = await inputOf(message)
        return input === undefined
          ? null
          : transaction.submit(self(), input, { ...options, key: `message:${message.id}` })
      },
      { signal, onInvalid },
    )
  }

  async function startOn<Data>(
    queue: StartingQueue<Data>,
    given: InputOf<Data, In> | StartOnOptions = {},
    options: StartOnOptions = {},
  ): Promise<ConsumeResult> {
    if (typeof given === 'function') return start(queue, given, options)
    // The overload without a mapping takes only queues whose data is an input.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return start(queue, (message) => message.data as unknown as In, given)
  }
  return { startOn }
}
