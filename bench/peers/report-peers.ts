// The comparison's result file: every figure as it was measured, the ratio of Lockstep to the best peer of each row, and
// whether it is what was to be reached. What only stands in for the workload is named and has a ratio of its own.
import type { Machine } from '../machine.ts'
import type { PeerOutcome } from './peer-job.ts'
import type { Peer } from './peer.ts'
import type { Workload } from './workload.ts'

export interface Compared {
  readonly workload: Workload
  readonly peer: Peer
  readonly outcome: PeerOutcome
}

export interface PeersHead {
  readonly machine: Machine
  readonly node: string
  readonly postgres: string
  readonly settings: Readonly<Record<string, string>>
  readonly date: string
  readonly seconds: number
}

const OURS = 'Lockstep'
/** Not the workload, shown for scale. */
const FOR_SCALE = /^for scale/

const table = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')

export function reportPeers(head: PeersHead, compared: readonly Compared[]): string {
  const { machine } = head
  const peers = [...new Set(compared.map((one) => one.peer))]
  const workloads = [...new Set(compared.map((one) => one.workload))]
  const figures = workloads.map((workload) => row(workload, peers, compared))
  const titles = [
    'workload',
    ...peers.map((peer) => `${peer.name} ${peer.version === 'this commit' ? '' : peer.version}`.trim()),
    'Lockstep ÷ best',
    'to reach',
    'reached',
  ]
  return `# Lockstep beside its peers, ${head.date}, commit ${machine.commit}${machine.changed ? ' with changes not committed' : ''}

- machine: ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGib} GiB, ${machine.system}; one durable write of 8 KiB (fdatasync): ${machine.fsyncMicroseconds} µs; load average before the run ${machine.loadBefore.toFixed(1)}${machine.loadBefore > 1 ? ' (**other work ran on these cores**)' : ''}
- Node ${head.node} for every system, PostgreSQL ${head.postgres}, ${Object.entries(head.settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')}
- one run; each figure in a process and a database of its own, statistics fresh, window ${head.seconds} s after 1 s of warm-up; payload about 200 bytes; handlers do nothing
- a drain counts handlers in the window; afterwards the database must have finished exactly those that were handled

${table([titles, titles.map(() => '---'), ...figures])}

Rates per second, of the latency milliseconds p50 / p99.
"Lockstep ÷ best" divides by the best peer that does the same thing; in brackets by the best one that only stands in for it.

${notes(peers, workloads, compared)}
`
}

function shown(workload: Workload, outcome: PeerOutcome | undefined): string {
  if (outcome === undefined) return '-'
  const figure =
    workload.unit === 'ms'
      ? `${outcome.p50.toFixed(1)} / ${outcome.p99.toFixed(1)}`
      : Math.floor(outcome.rate).toLocaleString('en-US')
  return outcome.errors.length > 0 ? `${figure} (**errors**)` : figure
}

function row(workload: Workload, peers: readonly Peer[], compared: readonly Compared[]): string[] {
  const of = (peer: Peer): PeerOutcome | undefined =>
    compared.find((one) => one.workload === workload && one.peer === peer)?.outcome
  const cells = peers.map(
    (peer) => `${shown(workload, of(peer))}${peer.nearest[workload.name] === undefined ? '' : ' \\*'}`,
  )
  const ours = peers.find((peer) => peer.name === OURS)
  const mine = ours === undefined ? undefined : of(ours)
  const value = (outcome: PeerOutcome): number => (workload.unit === 'ms' ? 1 / outcome.p50 : outcome.rate)
  const best = (kept: (peer: Peer) => boolean): number =>
    Math.max(
      ...peers
        .filter((peer) => peer !== ours && kept(peer))
        .map((peer) => value(of(peer) ?? { rate: 0, p50: Infinity, p99: 0, errors: [] })),
    )
  const same = best((peer) => peer.nearest[workload.name] === undefined)
  const near = best(
    (peer) => peer.nearest[workload.name] !== undefined && !FOR_SCALE.test(peer.nearest[workload.name] ?? ''),
  )
  if (mine === undefined) return [workload.what, ...cells, '', '', '']
  const ratio = (other: number): string => (value(mine) / other).toFixed(2)
  const against = same > 0 ? same : near
  const told = `${same > 0 ? ratio(same) : '-'}${near > 0 ? ` (${ratio(near)})` : ''}`
  const what = workload.unit === 'ms' ? `p50 not above the best` : `≥ ${workload.times}`
  const reached = against <= 0 ? '' : value(mine) / against >= workload.times ? 'yes' : '**no**'
  return [workload.what, ...cells, told, what, reached]
}

function notes(peers: readonly Peer[], workloads: readonly Workload[], compared: readonly Compared[]): string {
  const lines = peers.map((peer) => `- ${peer.name} ${peer.version}: ${peer.settings}`)
  for (const peer of peers) {
    for (const workload of workloads) {
      const nearest = peer.nearest[workload.name]
      if (nearest !== undefined) lines.push(`- \\* ${peer.name}, ${workload.name}: ${nearest}`)
    }
  }
  for (const { workload, peer, outcome } of compared) {
    for (const error of outcome.errors)
      lines.push(`- **error** ${peer.name}, ${workload.name}: ${error.split('\n')[0] ?? ''}`)
  }
  return lines.join('\n')
}
