// The class of the `./http` entry: through a broker only, for edge run-times and bundlers that know no `browser` condition.
// It names no Node module and has no way to PostgreSQL.
import { LockstepError } from '../protocol/errors.ts'
import { clientOver, type Client } from './client.ts'
import { httpSettings, loggerOf, type HttpOptions } from './client-options.ts'
import { httpTransport } from './transport-http.ts'

function refuseToJoin(): never {
  throw new LockstepError(
    'not_available',
    "in(tx) needs PostgreSQL: import Lockstep from 'lockstep', not 'lockstep/http'",
  )
}

type HttpClient = Client<'http'>

export class Lockstep implements HttpClient {
  readonly queue: HttpClient['queue']
  readonly kv: HttpClient['kv']
  readonly locks: HttpClient['locks']
  readonly timers: HttpClient['timers']
  readonly ephemeral: HttpClient['ephemeral']
  readonly stream: HttpClient['stream']
  readonly deadLetters: HttpClient['deadLetters']
  readonly groups: HttpClient['groups']
  readonly queues: HttpClient['queues']
  readonly messages: HttpClient['messages']
  readonly traces: HttpClient['traces']
  readonly ack: HttpClient['ack']
  readonly renew: HttpClient['renew']
  readonly transaction: HttpClient['transaction']
  readonly in: HttpClient['in']
  readonly submit: HttpClient['submit']
  readonly submitMany: HttpClient['submitMany']
  readonly enqueue: HttpClient['enqueue']
  readonly enqueueMany: HttpClient['enqueueMany']
  readonly workflow: HttpClient['workflow']
  readonly run: HttpClient['run']
  readonly wake: HttpClient['wake']
  readonly schedules: HttpClient['schedules']
  readonly worker: HttpClient['worker']
  readonly flush: HttpClient['flush']
  readonly migrate: HttpClient['migrate']
  readonly close: HttpClient['close']

  constructor(options: HttpOptions) {
    const settings = httpSettings(options)
    const client = clientOver<'http'>({
      open: async () => httpTransport(settings),
      log: loggerOf(options),
      inProcess: false,
      join: refuseToJoin,
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
