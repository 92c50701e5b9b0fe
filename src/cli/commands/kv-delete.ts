// `lockstep kv delete`: removes a value, only at the version that was read when one is given.

import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { runKv } from '../run-kv.ts'

export const kvDelete: Command = {
  name: 'kv delete',
  summary: 'Delete a value.',
  detail: 'Ends with status 1 when the key is not there or has another version than --expect.',
  arguments: [
    { name: 'namespace', meaning: 'The namespace.' },
    { name: 'key', meaning: 'The key.' },
  ],
  options: {
    expect: { kind: 'integer', value: 'VERSION', meaning: 'Delete only this version.' },
    ...DATABASE_OPTIONS,
  },
  examples: ['lockstep kv delete orders order-2001', 'lockstep kv delete orders order-2001 --expect 42'],
  async run(call) {
    const [ns, key, expect] = [call.argument('namespace'), call.argument('key'), call.integer('expect')]
    return await withDatabase(call, async (database) => {
      const result = await runKv(database, { op: 'delete', ns, key, ...(expect === null ? {} : { expect }) })
      call.output.result({ applied: result.applied, ns, key, version: result.version, reason: result.reason }, () => {
        if (result.applied) return `${key} is deleted from ${ns}.`
        if (expect === null) return `There is no ${key} in ${ns}.`
        return `Not deleted: ${key} in ${ns} has version ${result.version ?? 0}, not ${expect}.`
      })
      return result.applied ? 0 : 1
    })
  },
}
