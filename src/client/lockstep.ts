// The class of the package's main entry: through a broker or straight to PostgreSQL, by what it is made with. PostgreSQL is
// reached only by `import('#postgres')`, which a browser's bundler resolves to a refusal.
import { clientOver, type Client } from './client.ts'
import { httpSettings, isHttp, loggerOf, type LockstepOptions, type WayOf } from './client-options.ts'
import { checkOpenTransaction } from './foreign-transaction.ts'
import type { Joinable } from '../protocol/joinable.ts'
import type { OpenClient } from './transaction-client.ts'
import { httpTransport } from './transport-http.ts'
import type { JoinedTransaction, Transport } from './transport.ts'

async function open(options: LockstepOptions): Promise<Transport> {
  if (isHttp(options)) return httpTransport(httpSettings(options))
  return (await import('#postgres')).openPostgres(options, loggerOf(options))
}

type Join = (tx: OpenClient | Joinable) => () => Promise<JoinedTransaction>

const joinWith =
  (options: LockstepOptions): Join =>
  (tx) => {
    checkOpenTransaction(tx)
    return async () => {
      checkOpenTransaction(tx)
      return (await import('#postgres')).joinTransaction(tx, options)
    }
  }

export class Lockstep<const O extends LockstepOptions = LockstepOptions> implements Client<WayOf<O>> {
  readonly queue: Client<WayOf<O>>['queue']
  readonly kv: Client<WayOf<O>>['kv']
  readonly locks: Client<WayOf<O>>['locks']
  readonly timers: Client<WayOf<O>>['timers']
  readonly ephemeral: Client<WayOf<O>>['ephemeral']
  readonly stream: Client<WayOf<O>>['stream']
  readonly deadLetters: Client<WayOf<O>>['deadLetters']
  readonly groups: Client<WayOf<O>>['groups']
  readonly queues: Client<WayOf<O>>['queues']
  readonly messages: Client<WayOf<O>>['messages']
  readonly traces: Client<WayOf<O>>['traces']
  readonly ack: Client<WayOf<O>>['ack']
  readonly renew: Client<WayOf<O>>['renew']
  readonly transaction: Client<WayOf<O>>['transaction']
  readonly in: Client<WayOf<O>>['in']
  readonly submit: Client<WayOf<O>>['submit']
  readonly submitMany: Client<WayOf<O>>['submitMany']
  readonly enqueue: Client<WayOf<O>>['enqueue']
  readonly enqueueMany: Client<WayOf<O>>['enqueueMany']
  readonly workflow: Client<WayOf<O>>['workflow']
  readonly run: Client<WayOf<O>>['run']
  readonly wake: Client<WayOf<O>>['wake']
  readonly schedules: Client<WayOf<O>>['schedules']
  readonly worker: Client<WayOf<O>>['worker']
  readonly flush: Client<WayOf<O>>['flush']
  readonly migrate: Client<WayOf<O>>['migrate']
  readonly close: Client<WayOf<O>>['close']

  constructor(options: O) {
    // Wrong options are refused here, not at the first verb.
    const inProcess = !isHttp(options)
    if (isHttp(options)) httpSettings(options)
    const client = clientOver<WayOf<O>>({
      open: async () => open(options),
      log: loggerOf(options),
      inProcess,
      join: joinWith(options),
    })
    this.queue = client.queue
    this.kv = client.kv
    this.locks = client.locks
    this.timers = client.timers
    this.ephemeral = client.ephemeral
    this.stream = client.stream
    this.deadLetters = client.deadLetters
    this.groups = client.groups
    this.queues = client.queues
    this.messages = client.messages
    this.traces = client.traces
    this.ack = client.ack
    this.renew = client.renew
    this.transaction = client.transaction
    this.in = client.in
    this.submit = client.submit
    this.submitMany = client.submitMany
    this.enqueue = client.enqueue
    this.enqueueMany = client.enqueueMany
    this.workflow = client.workflow
    this.run = client.run
    this.wake = client.wake
    this.schedules = client.schedules
    this.worker = client.worker
    this.flush = client.flush
    this.migrate = client.migrate
    this.close = client.close
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
