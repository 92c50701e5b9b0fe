// `lockstep kv get`: one value with its version, printed exactly as it is stored.

import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { runKv } from '../run-kv.ts'
import { rawJson } from '../write-json.ts'

export const kvGet: Command = {
  name: 'kv get',
  summary: 'Print a value and its version.',
  detail: 'Ends with status 1 when the key is not there.',
  arguments: [
    { name: 'namespace', meaning: 'The namespace.' },
    { name: 'key', meaning: 'The key.' },
  ],
  options: DATABASE_OPTIONS,
  examples: ['lockstep kv get orders order-2001', 'lockstep kv get orders order-2001 --json'],
  async run(call) {
    const [ns, key] = [call.argument('namespace'), call.argument('key')]
    return await withDatabase(call, async (database) => {
      const result = await runKv(database, { op: 'get', ns, key })
      if (!result.found) {
        call.output.result({ found: false, ns, key, version: 0 }, () => `There is no ${key} in ${ns}.`)
        return 1
      }
      const { value, version, expiresAt, updatedAt } = result.row
      const life = expiresAt === null ? 'kept for ever' : `expires ${expiresAt}`
      call.output.result(
        { found: true, ns, key, version, expiresAt, updatedAt, value: rawJson(value ?? 'null') },
        () => `${value ?? 'null'}\n${call.output.styled('dim', `version ${version}, written ${updatedAt}, ${life}`)}`,
      )
      return 0
    })
  },
}
