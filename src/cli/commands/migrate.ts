// `lockstep migrate`: brings the schema up to this package, shows how it stands, or prints the script for those who let
// nobody but their own tools change a schema.

import { migrate } from '../../db/migrate/migrate.ts'
import { migrationScript } from '../../db/migrate/migration-script.ts'
import { migrationStatus, readState } from '../../db/migrate/schema-state.ts'
import { asRun } from '../as-run.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { UsageError } from '../usage-error.ts'

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Create or update the schema `lockstep` in a database.',
  detail:
    'Forward only. Each migration is one transaction with a short lock timeout that is retried; running it again does nothing. The role needs the right to create a schema; the application itself runs with the role of --grant.',
  arguments: [],
  options: {
    print: { kind: 'flag', meaning: 'Print the whole SQL script and change nothing; needs no database.' },
    status: {
      kind: 'flag',
      meaning: 'Print what is applied and what is pending; ends with 1 when something is pending.',
    },
    grant: { kind: 'text', value: 'ROLE', meaning: 'Also give this role what a running application needs.' },
    ...DATABASE_OPTIONS,
  },
  examples: [
    'lockstep migrate',
    'lockstep migrate --status',
    'lockstep migrate --grant app',
    'lockstep migrate --print > lockstep.sql',
  ],
  async run(call) {
    const { output } = call
    if (call.flag('print')) {
      if (call.flag('status') || call.text('grant') !== null) {
        throw new UsageError(
          '--print stands alone: it changes nothing and asks no database.',
          'lockstep migrate --print',
        )
      }
      const script = migrationScript()
      output.result({ script }, () => script)
      return 0
    }
    if (call.flag('status')) return await withDatabase(call, (database) => showStatus(database, output), 'any')
    const grant = call.text('grant')
    return await withDatabase(
      call,
      async (database) => {
        const report = await migrate(database, {
          ...(grant === null ? {} : { grant }),
          onProgress: (line) => output.progress(line),
        })
        output.result(report, () => reportText(report))
        return 0
      },
      'any',
    )
  },
}

type Report = Awaited<ReturnType<typeof migrate>>
type Shown = Parameters<Command['run']>[0]['output']

async function showStatus(database: Parameters<typeof migrationStatus>[0], output: Shown): Promise<number> {
  const { present } = await readState(database.reader)
  const status = await migrationStatus(database)
  const fits =
    present && status.pending.length === 0 && (status.functions === 'current' || status.functions === 'newer')
  output.result({ present, fits, ...status }, () =>
    [
      ...status.applied.map((name) => `applied  ${name}`),
      ...status.unknown.map((name) => `newer    ${name}`),
      ...status.pending.map((name) => `pending  ${name}`),
      `functions: ${status.functions}`,
      fits ? 'The schema fits this version.' : asRun('Run `lockstep migrate`.'),
    ].join('\n'),
  )
  return fits ? 0 : 1
}

function reportText({ applied, functions, granted }: Report): string {
  const changes: string[] = []
  if (applied.length > 0) changes.push(`${applied.length} migrations`)
  if (functions === 'applied') changes.push('the functions')
  const lines = [
    changes.length === 0
      ? 'The schema is up to date; nothing was changed.'
      : `The schema is up to date: applied ${changes.join(' and ')}.`,
  ]
  if (functions === 'newer') lines.push('The functions of a newer package were kept; they serve this one too.')
  return [...lines, ...granted.map((statement) => `${statement};`)].join('\n')
}
