// `lockstep kv put`: writes a value, for a stated time or for ever, and only over the version that was read when one is
// given. A lost version is an answer: it prints the winner and ends with status 1.

import { durationSeconds } from '../../protocol/durations.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { argumentOrInput, readJson } from '../read-json.ts'
import { runKv } from '../run-kv.ts'
import { UsageError } from '../usage-error.ts'
import { rawJson } from '../write-json.ts'

function secondsOf(ttl: string): number {
  try {
    return durationSeconds(ttl, '--ttl')
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : 'The time cannot be read'}.`, '--ttl 30d')
  }
}

export const kvPut: Command = {
  name: 'kv put',
  summary: 'Write a value.',
  detail:
    'One of --ttl and --forever is needed. With --expect nothing is written unless the key has that version (0: unless it is not there); the answer then names the current one, with status 1.',
  arguments: [
    { name: 'namespace', meaning: 'The namespace.' },
    { name: 'key', meaning: 'The key.' },
    { name: 'value', meaning: 'JSON; `-` or nothing reads the standard input.', optional: true },
  ],
  options: {
    ttl: { kind: 'text', value: 'TIME', meaning: 'How long the value is kept: 30d, 12h, 5m, 90s.' },
    forever: { kind: 'flag', meaning: 'Keep the value until it is deleted.' },
    expect: { kind: 'integer', value: 'VERSION', meaning: 'Write only over this version; 0: only where no value is.' },
    ...DATABASE_OPTIONS,
  },
  examples: [
    `lockstep kv put orders order-2001 '{"status":"paid"}' --ttl 30d`,
    `lockstep kv put orders order-2001 '{"status":"shipping"}' --ttl 30d --expect 41`,
  ],
  async run(call) {
    const [ns, key, expect] = [call.argument('namespace'), call.argument('key'), call.integer('expect')]
    const [ttl, forever] = [call.text('ttl'), call.flag('forever')]
    if ((ttl !== null) === forever) {
      throw new UsageError(
        'Say how long the value is kept: one of --ttl and --forever.',
        `lockstep kv put ${ns} ${key} … --ttl 30d`,
      )
    }
    const life = ttl === null ? { forever: true } : { ttlSeconds: secondsOf(ttl) }
    const value = readJson(await argumentOrInput(call.argument('value'), 'value'), 'value')
    return await withDatabase(call, async (database) => {
      const result = await runKv(database, {
        op: 'put',
        ns,
        key,
        value: rawJson(value),
        ...life,
        ...(expect === null ? {} : { expect }),
      })
      const current = result.value === null ? null : rawJson(result.value)
      call.output.result(
        { applied: result.applied, ns, key, version: result.version, reason: result.reason, value: current },
        () =>
          result.applied
            ? `${key} in ${ns} now has version ${result.version ?? 0}.`
            : `Not written: ${key} in ${ns} has version ${result.version ?? 0}, not ${expect ?? 0}. Its value: ${result.value ?? 'none'}`,
      )
      return result.applied ? 0 : 1
    })
  },
}
