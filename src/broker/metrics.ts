// Counts what the broker does and prints it, as JSON for people and as Prometheus text. Counting costs one map look-up per
// request; gauges are read only when asked for. Labels are routes and statuses, never names that users chose.
import type { Hints } from '../traffic/hints.ts'
import type { Ephemeral } from './ephemeral/create-ephemeral.ts'
import type { Traffic } from '../traffic/traffic.ts'

interface JobCount {
  readonly done: number
  readonly seconds: number
  readonly failed: number
}

interface RouteCount {
  readonly statuses: Map<number, number>
  seconds: number
}

export interface Gauges {
  readonly traffic: Traffic
  readonly ephemeral: Ephemeral
  readonly bodyBytes: () => number
  readonly answerBytes: () => number
  readonly hints: Pick<Hints, 'state'>
  readonly pool: { readonly totalCount: number; readonly idleCount: number; readonly waitingCount: number }
}

export interface Metrics {
  count(route: string, status: number, seconds: number): void
  /** One step of a job of upkeep: rows placed, moved or removed. */
  upkeep(job: string, done: number, seconds: number, failed: boolean): void
  prometheus(): string
  summary(): Readonly<Record<string, unknown>>
}

export function createMetrics(gauges: Gauges): Metrics {
  const routes = new Map<string, RouteCount>()
  const jobs = new Map<string, JobCount>()
  const startedAt = performance.now()
  const { traffic, pool } = gauges

  function readings(): [name: string, kind: 'gauge' | 'counter', about: string, value: number][] {
    const { rss, heapUsed } = process.memoryUsage()
    const read: [string, 'gauge' | 'counter', string, number][] = [
      ['lockstep_parked_polls', 'gauge', 'Pops that wait for a message.', traffic.parking.parked],
      ['lockstep_waiting_pops', 'gauge', 'Pops not answered yet, parked or being looked for.', traffic.parking.waiting],
      ['lockstep_lots', 'gauge', 'Different things that pops wait for.', traffic.parking.lots],
      ['lockstep_calls_running', 'gauge', 'Calls in flight to PostgreSQL.', traffic.admission.running],
      ['lockstep_calls_waiting', 'gauge', 'Calls before the gate to the pool.', traffic.admission.waiting],
      ['lockstep_ephemeral_bytes', 'gauge', 'Messages of ephemeral queues, in bytes.', gauges.ephemeral.bytes],
      ['lockstep_ephemeral_waiting_pops', 'gauge', 'Parked pops of ephemeral queues.', gauges.ephemeral.waiting],
      ['lockstep_body_bytes', 'gauge', 'Request bodies being read, in bytes.', gauges.bodyBytes()],
      ['lockstep_answer_bytes', 'gauge', 'Answers that clients have not read yet, in bytes.', gauges.answerBytes()],
      ['lockstep_pool_connections', 'gauge', 'Connections of the pool.', pool.totalCount],
      ['lockstep_pool_idle_connections', 'gauge', 'Connections of the pool that are idle.', pool.idleCount],
      [
        'lockstep_hints_listening',
        'gauge',
        '1 while hints of other processes arrive, 0 while waits end by looking only.',
        Number(gauges.hints.state === 'listening'),
      ],
      ['process_resident_memory_bytes', 'gauge', 'Resident memory.', rss],
      ['process_heap_bytes', 'gauge', 'Heap in use.', heapUsed],
      ['lockstep_uptime_seconds', 'gauge', 'Since the start.', (performance.now() - startedAt) / 1000],
    ]
    for (const [verb, { counters, waiting }] of Object.entries(traffic.joiners)) {
      read.push(
        [`lockstep_${verb}_calls_total`, 'counter', `Joined calls of ${verb}.`, counters.calls],
        [`lockstep_${verb}_requests_total`, 'counter', `Requests joined into them.`, counters.inputs],
        [`lockstep_${verb}_splits_total`, 'counter', `Joined calls that failed and were split.`, counters.splits],
        [`lockstep_${verb}_waiting`, 'gauge', `Requests of ${verb} that wait for a call.`, waiting],
      )
    }
    return read
  }

  return {
    count(route, status, seconds) {
      let entry = routes.get(route)
      if (!entry) routes.set(route, (entry = { statuses: new Map(), seconds: 0 }))
      entry.statuses.set(status, (entry.statuses.get(status) ?? 0) + 1)
      entry.seconds += seconds
    },

    upkeep(job, done, seconds, failed) {
      const entry = jobs.get(job) ?? { done: 0, seconds: 0, failed: 0 }
      jobs.set(job, {
        done: entry.done + done,
        seconds: entry.seconds + seconds,
        failed: entry.failed + (failed ? 1 : 0),
      })
    },

    prometheus() {
      const lines: string[] = []
      for (const [name, kind, about, value] of readings()) {
        lines.push(`# HELP ${name} ${about}`, `# TYPE ${name} ${kind}`, `${name} ${value}`)
      }
      lines.push(
        '# HELP lockstep_http_requests_total Requests answered.',
        '# TYPE lockstep_http_requests_total counter',
      )
      const seconds: string[] = []
      for (const [route, entry] of routes) {
        const [method, path] = route.split(' ')
        for (const [status, count] of entry.statuses) {
          lines.push(`lockstep_http_requests_total{method="${method}",route="${path}",status="${status}"} ${count}`)
        }
        seconds.push(`lockstep_http_seconds_total{method="${method}",route="${path}"} ${entry.seconds}`)
      }
      lines.push('# HELP lockstep_http_seconds_total Time from request to answer.')
      lines.push('# TYPE lockstep_http_seconds_total counter', ...seconds, ...jobLines(jobs))
      return `${lines.join('\n')}\n`
    },

    summary() {
      const memory = process.memoryUsage()
      const cpu = process.cpuUsage()
      let requests = 0
      for (const { statuses } of routes.values()) for (const count of statuses.values()) requests += count
      return {
        uptime: (performance.now() - startedAt) / 1000,
        requests: { total: requests },
        messages: { parkedPolls: traffic.parking.parked },
        database: { poolSize: pool.totalCount, idleConnections: pool.idleCount, waitingRequests: pool.waitingCount },
        memory: { rss: memory.rss, heapUsed: memory.heapUsed, heapTotal: memory.heapTotal },
        cpu: { user: cpu.user, system: cpu.system },
      }
    },
  }
}

function jobLines(jobs: ReadonlyMap<string, JobCount>): readonly string[] {
  const each = (name: string, read: (count: JobCount) => number): readonly string[] =>
    [...jobs].map(([job, count]) => `${name}{job="${job}"} ${read(count)}`)
  return [
    '# HELP lockstep_upkeep_done_total Rows that a job of upkeep placed, moved or removed; of cut_logs, messages that retention let go.',
    '# TYPE lockstep_upkeep_done_total counter',
    ...each('lockstep_upkeep_done_total', (count) => count.done),
    '# HELP lockstep_upkeep_seconds_total Time spent in the steps of a job of upkeep.',
    '# TYPE lockstep_upkeep_seconds_total counter',
    ...each('lockstep_upkeep_seconds_total', (count) => count.seconds),
    '# HELP lockstep_upkeep_failures_total Steps of a job of upkeep that failed and left their work due.',
    '# TYPE lockstep_upkeep_failures_total counter',
    ...each('lockstep_upkeep_failures_total', (count) => count.failed),
  ]
}
