// A workflow that messages start: each message of a group starts one run, submitted in the commit that acks the message. So a
// run exists exactly when its message is done with, and a message that comes again finds its run instead of starting a second.
import { LockstepError } from '../../protocol/errors.ts'
import type { ConsumeResult } from '../../client/consume/consume-loop.ts'
import type { Message } from '../../client/message.ts'
import type { ConsumeOptions } from '../../client/queue-builder.ts'
import type { Startable, Starter, SubmitOptions } from './submitter.ts'

/** A queue of a client straight to PostgreSQL; its group, concurrency and the like are said before. */
export interface StartingQueue<Data> {
  transactional(this: StartingQueue<Data>): {
    consume(
      handler: (message: Message<Data>, step: Starter) => unknown,
      options?: ConsumeOptions,
    ): Promise<ConsumeResult>
  }
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

/** The mapping has changed since the message's run began: that run stands. */
function isKnown(error: unknown): boolean {
  return error instanceof LockstepError && error.code === 'run_conflict'
}

export function startVerb<In, Out>(self: () => Startable<In, Out>): StartVerb<In> {
  async function start<Data>(
    queue: StartingQueue<Data>,
    inputOf: InputOf<Data, In>,
    { signal, onInvalid, ...options }: StartOnOptions,
  ): Promise<ConsumeResult> {
    return queue.transactional().consume(
      async (message, step) => {
        const input = await inputOf(message)
        if (input === undefined) return
        try {
          await step.submit(self(), input, { ...options, key: `message:${message.id}` })
        } catch (error) {
          if (!isKnown(error)) throw error
        }
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
