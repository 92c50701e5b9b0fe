// The buffers of one client, one for each queue: in two of them the messages of one queue would overtake each other.
import { root } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { partitionName } from '../../protocol/names.ts'
import type { Logger } from '../logger.ts'
import { stagedItems, type PushInput } from '../push-input.ts'
import type { QueueDefinition } from '../queue-definition.ts'
import type { Transport } from '../transport.ts'
import type { Untyped } from '../untyped.ts'
import { bufferBounds, type BufferOptions } from './buffer-options.ts'
import { createPushBuffer, type BufferedPush, type BufferStatus, type PushBuffer } from './push-buffer.ts'

/** A queue whose pushes are gathered in this process and sent together. */
export interface QueueBuffer<In> {
  partition(name: string): QueueBuffer<In>
  /** Waits for room, then for the verdicts; `taken` of what it gives back is the room alone. */
  push(items: PushInput<In> | readonly PushInput<In>[]): BufferedPush
  /** Sends at once; resolves when all that was pushed before has its verdict, and rejects with the first fault among them. */
  flush(): Promise<void>
  status(): BufferStatus
  /** Flushes. */
  [Symbol.asyncDispose](): Promise<void>
}

export interface BufferSet {
  readonly open: (
    definition: QueueDefinition<string, unknown, unknown>,
    options: BufferOptions | undefined,
  ) => PushBuffer
  readonly flush: () => Promise<void>
  /** The client closes: its handlers may still push and wait for the verdict, and nothing waits for its time any more. */
  readonly hurry: () => void
  readonly close: (timeoutMs: number) => Promise<void>
}

export function bufferSet(transport: Transport, log: Logger): BufferSet {
  const buffers = new Map<string, { readonly buffer: PushBuffer; readonly asked: string }>()
  let hurrying = false
  return {
    open({ name }, options) {
      const bounds = bufferBounds(options ?? {})
      const asked = JSON.stringify(bounds)
      const known = buffers.get(name)
      if (known !== undefined) {
        if (options === undefined || known.asked === asked) return known.buffer
        const other = `the buffer of queue '${name}' has other options already: ${known.asked}`
        throw new LockstepError('bad_request', other)
      }
      const buffer = createPushBuffer({ queue: name, send: transport.push, log }, bounds)
      if (hurrying) buffer.hurry()
      buffers.set(name, { buffer, asked })
      return buffer
    },
    async flush() {
      await Promise.all([...buffers.values()].map(async ({ buffer }) => buffer.flush()))
    },
    hurry() {
      hurrying = true
      for (const { buffer } of buffers.values()) buffer.hurry()
    },
    async close(timeoutMs) {
      await Promise.all([...buffers.values()].map(async ({ buffer }) => buffer.close(timeoutMs)))
    },
  }
}

/** `queue(…).buffer(…)`, over the client's own buffer of that queue. */
export function bufferOver(
  buffer: PushBuffer,
  definition: QueueDefinition<string, unknown, unknown>,
  partition: string | null,
): QueueBuffer<Untyped> {
  return {
    partition: (name) => bufferOver(buffer, definition, partitionName.read(name, root(), 'partition')),
    push: (items) => buffer.push(async () => stagedItems(items, definition.name, partition, definition.schema)),
    flush: buffer.flush,
    status: buffer.status,
    [Symbol.asyncDispose]: buffer.flush,
  }
}
