// A consumer to be killed: takes one message, says so, and never finishes. Run by consumer-killed.test.ts as a process of its own.
import { Lockstep } from 'lockstep'

const [way = '', place = '', queue = ''] = process.argv.slice(2)
const lockstep: Lockstep = new Lockstep(way === 'http' ? { url: place } : { connectionString: place })
await lockstep
  .queue(queue)
  .group('g')
  .subscriptionMode('all')
  .each()
  .consume(async (message) => {
    process.stdout.write(`holding ${message.transactionId}\n`)
    await new Promise(() => {})
  })
