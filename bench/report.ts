// The result file: every figure as it was measured, what was to be reached, and whether it was. Nothing is rounded up.
import type { Machine } from './machine.ts'
import type { Measured } from './rows/measure.ts'

export interface ReportHead {
  readonly machine: Machine
  readonly postgres: string
  readonly settings: Readonly<Record<string, string>>
  readonly date: string
  readonly seconds: number
}

const HEAD = [
  'row',
  'what',
  'rate',
  'to reach',
  'reached',
  'p50 ms',
  'p99 ms',
  'ratio',
  'cpu µs per unit: load / broker / PostgreSQL',
  'errors',
]

export function report(head: ReportHead, measured: readonly Measured[]): string {
  const { machine } = head
  const rows = measured.map((one) => cells(one, measured))
  const table = [HEAD, HEAD.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
  return `# Speed, ${head.date}, commit ${machine.commit}${machine.changed ? ' with changes not committed' : ''}

- machine: ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGib} GiB, ${machine.system}; one durable write of 8 KiB (fdatasync): ${machine.fsyncMicroseconds} µs; load average before the run ${machine.loadBefore.toFixed(1)}${machine.loadBefore > 1 ? ' (**other work ran on these cores**)' : ''}
- Node ${machine.node}, PostgreSQL ${head.postgres}, ${Object.entries(head.settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')}
- PostgreSQL, broker and load generator share these cores; payload about 200 bytes; window ${head.seconds} s after 2 s of warm-up, one run each
- "ratio" divides by rows of the same run; cpu is what the processes spent in the window, so the parts add up to what the cores can give

${table}

${notes(measured)}`
}

function cells(one: Measured, all: readonly Measured[]): string[] {
  const { row, outcome } = one
  const { figures } = outcome
  const ratios = (row.against ?? []).flatMap((name) => {
    const base = all.find((other) => other.row.name === name)
    return base === undefined ? [] : [`${(one.rate / base.rate).toFixed(2)} × ${name}`]
  })
  const late = row.p50Ms !== undefined && figures.p50 > row.p50Ms
  const reached = row.target === null ? '' : one.rate >= row.target && !late ? 'yes' : `**no**${late ? ' (p50)' : ''}`
  return [
    row.name,
    row.what,
    `${Math.floor(one.rate).toLocaleString('en-US')} ${row.unit}`,
    row.target === null
      ? ''
      : `${row.target.toLocaleString('en-US')}${row.p50Ms === undefined ? '' : `, p50 ≤ ${row.p50Ms}`}`,
    reached,
    figures.p50.toFixed(2),
    figures.p99.toFixed(2),
    ratios.join(', '),
    `${one.cpu.load.toFixed(1)} / ${row.server === 'broker' ? one.cpu.broker.toFixed(1) : '-'} / ${one.cpu.postgres.toFixed(1)}`,
    figures.errors === 0
      ? '0'
      : `${figures.errors}: ${(figures.firstError ?? '').replaceAll('|', '\\|').replaceAll('\n', ' ')}`,
  ]
}

/** The targets that are not a rate. */
function notes(measured: readonly Measured[]): string {
  const lines: string[] = []
  const named = (name: string): Measured | undefined => measured.find((one) => one.row.name === name)
  const [push, none, lock] = [named('user-tx-push'), named('user-tx-none'), named('user-tx-lock')]
  if (push !== undefined && none !== undefined && lock !== undefined) {
    const share = push.rate / none.rate
    const times = push.rate / lock.rate
    lines.push(
      `- 200 user transactions: ${(share * 100).toFixed(1)} % of the same without a push (to reach 50 %: ${share >= 0.5 ? 'yes' : '**no**'}), ${times.toFixed(1)} × holding the partition's lock (to reach 15 ×: ${times >= 15 ? 'yes' : '**no**'})`,
    )
  }
  const [few, many] = [named('wake-1k'), named('wake-1m')]
  if (few !== undefined && many !== undefined) {
    const times = many.outcome.figures.p99 / few.outcome.figures.p99
    lines.push(
      `- p99 from push to consumer with a million partitions: ${times.toFixed(2)} × that with a thousand (to stay under 3 ×: ${times < 3 ? 'yes' : '**no**'})`,
    )
  }
  const idle = named('idle-1m')
  if (idle !== undefined) {
    const cores = ((idle.cpu.broker + idle.cpu.postgres) * idle.rate) / 1e6
    lines.push(
      `- 10 idle consumers at a million partitions: ${(cores * 100).toFixed(1)} % of one core, broker and PostgreSQL together (to stay under 5 %: ${cores < 0.05 ? 'yes' : '**no**'})`,
    )
  }
  const parked = named('parked')
  const loaded = measured.filter((one) => one.row.server === 'broker' && one !== parked)
  if (loaded.length > 0) {
    const most = Math.max(...loaded.map((one) => one.brokerBytes)) / 1e6
    lines.push(
      `- broker memory under these loads: ${most.toFixed(0)} MB resident at most (to stay under 200 MB: ${most < 200 ? 'yes' : '**no**'})`,
    )
  }
  if (parked !== undefined) {
    const each = (parked.brokerBytes - parked.brokerBytesBefore) / parked.row.connections / 1000
    lines.push(
      `- broker memory per parked poll at ${parked.row.connections.toLocaleString('en-US')}: ${each.toFixed(1)} kB (to stay under 25 kB: ${each < 25 ? 'yes' : '**no**'})`,
    )
  }
  return `${lines.join('\n')}\n`
}
