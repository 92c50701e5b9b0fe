// `lockstep kv list`: the keys of a namespace, all or those that begin with a prefix, with version and expiry, page by page.

import { LIMITS } from '../../protocol/limits.ts'
import { asRun, shellWord } from '../as-run.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { listKeys } from '../run-kv.ts'
import { showTable } from '../show-table.ts'
import { rawJson } from '../write-json.ts'

export const kvList: Command = {
  name: 'kv list',
  summary: 'List the keys of a namespace, all or by prefix.',
  detail: 'In the order of their bytes. When there are more, the last line is the command for the next page.',
  arguments: [
    { name: 'namespace', meaning: 'The namespace.' },
    { name: 'prefix', meaning: 'What the keys begin with; left out, all keys.', optional: true },
  ],
  options: {
    values: { kind: 'flag', meaning: 'Read the values too.' },
    after: { kind: 'text', value: 'KEY', meaning: 'Begin after this key.' },
    limit: {
      kind: 'integer',
      value: 'N',
      min: 1,
      max: LIMITS.kvPrefixLimit,
      meaning: `At most this many, ${LIMITS.kvPrefixLimit} at the most.`,
      fallback: String(LIMITS.kvPrefixLimitDefault),
    },
    ...DATABASE_OPTIONS,
  },
  examples: [
    'lockstep kv list orders',
    'lockstep kv list orders order- --limit 10',
    'lockstep kv list orders order- --values --limit 10',
  ],
  async run(call) {
    const [ns, prefix, after] = [call.argument('namespace'), call.argument('prefix'), call.text('after')]
    const limit = call.integer('limit') ?? LIMITS.kvPrefixLimitDefault
    const keysOnly = !call.flag('values')
    return await withDatabase(call, async (database) => {
      const { rows, truncated, nextAfter } = await listKeys(database.reader, { ns, prefix, limit, keysOnly, after })
      const plain = rows.map(({ key, version, expiresAt, updatedAt, value }) => ({
        key,
        version,
        expiresAt,
        updatedAt,
        ...(keysOnly ? {} : { value: rawJson(value ?? 'null') }),
      }))
      call.output.result({ ns, prefix, keys: plain, truncated, nextAfter }, () => {
        const titles = ['key', 'version', 'expires', ...(keysOnly ? [] : ['value'])]
        const lines = rows.map((row) => [
          row.key,
          row.version,
          row.expiresAt ?? 'never',
          ...(keysOnly ? [] : [row.value]),
        ])
        const table = showTable(
          titles,
          lines,
          prefix === '' ? `There is no key in ${ns}.` : `No key in ${ns} begins with ${prefix}.`,
        )
        if (nextAfter === null) return table
        const words = [ns, ...(prefix === '' ? [] : [shellWord(prefix)]), ...(keysOnly ? [] : ['--values'])].join(' ')
        const page = limit === LIMITS.kvPrefixLimitDefault ? '' : ` --limit ${limit}`
        return `${table}\n${asRun(`more: lockstep kv list ${words} --after ${shellWord(nextAfter)}${page}`)}`
      })
      return 0
    })
  },
}
