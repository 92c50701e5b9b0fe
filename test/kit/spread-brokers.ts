// Two brokers on one database behind one address: what a test does through it must come out as from one broker, whichever of
// them each request met. The draw is told, so that a failure can be run again.
import { createBroker, type BrokerOptions } from '../../src/broker/create-broker.ts'
import { seedOfRun } from './random-from.ts'
import { startSpreadingProxy } from './spreading-proxy.ts'

export interface SpreadBrokers {
  readonly address: string
  /** To run the same draw again. */
  readonly replay: string
  stop(): Promise<void>
}

export async function startSpreadBrokers(options: BrokerOptions): Promise<SpreadBrokers> {
  const brokers = [createBroker({ ...options, port: 0 }), createBroker({ ...options, port: 0 })]
  await Promise.all(brokers.map((broker) => broker.start()))
  const seed = seedOfRun()
  const proxy = await startSpreadingProxy(
    brokers.map((broker) => broker.address),
    seed,
  )
  return {
    address: proxy.address,
    replay: `LOCKSTEP_SEED=${seed}`,
    async stop() {
      await proxy.stop()
      await Promise.all(brokers.map((broker) => broker.stop()))
    },
  }
}
