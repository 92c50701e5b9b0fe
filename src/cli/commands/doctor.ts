// `lockstep doctor`: looks at a database from where this program runs and says what is not as it should be, with what to do.
// It only reads, apart from one notification to itself.

import { asRun } from '../as-run.ts'
import { findDatabase } from '../find-database.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { examine, type Finding } from '../examine.ts'
import type { Output } from '../output.ts'
import { withProgress } from '../progress.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'Examine a database and say what is wrong with it.',
  detail:
    'Checks the connection, the version of the server and encoding, the schema, settings that trap applications, who could call a broker with the settings of this environment, old transactions, LISTEN, who does upkeep, the clock, and messages that wait to be placed. Ends with status 1 when something is broken; a warning alone ends with 0.',
  arguments: [],
  options: DATABASE_OPTIONS,
  examples: ['lockstep doctor', 'lockstep doctor --json'],
  async run(call) {
    const { connectionString, source } = findDatabase(call.text('database-file'), call.env, process.cwd())
    const findings = await withProgress(call.output, 'examining the database', examine(connectionString, call.env))
    const broken = findings.some((finding) => finding.status === 'fail')
    call.output.result({ ok: !broken, database: source, findings }, () =>
      [`database: ${source}`, ...findings.map((finding) => line(finding, call.output))].join('\n'),
    )
    return broken ? 1 : 0
  },
}

const MARKS = { ok: ['ok  ', 'green'], warn: ['warn', 'yellow'], fail: ['FAIL', 'red'] } as const

function line(finding: Finding, output: Output): string {
  const [word, style] = MARKS[finding.status]
  const text = `${output.styled(style, word)}  ${finding.check.padEnd(12)}  ${finding.seen}`
  return finding.hint === null
    ? text
    : `${text}\n${' '.repeat(20)}${output.styled('dim', `try: ${asRun(finding.hint)}`)}`
}
