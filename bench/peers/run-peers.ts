// The comparison: every workload on every system, one after the other on one PostgreSQL, each in a process and a database of
// its own.
import { fork } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Client } from 'pg'
import { startPostgres } from '../../src/embedded/start-postgres.ts'
import { chosen, secondsOf } from '../choice.ts'
import { describeMachine } from '../machine.ts'
import { installPeers } from './install-peers.ts'
import type { PeerJob, PeerOutcome, PeerReply } from './peer-job.ts'
import type { Peer } from './peer.ts'
import { PEERS } from './peers.ts'
import { reportPeers, type Compared } from './report-peers.ts'
import type { Workload } from './workload.ts'
import { WORKLOADS } from './workloads.ts'

const SETTINGS = { synchronous_commit: 'on', fsync: 'on', shared_buffers: '1GB', max_connections: '300' } as const
const WARMUP_SECONDS = 1

export async function runPeers(root: string, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      list: { type: 'boolean', default: false },
      only: { type: 'string' },
      peers: { type: 'string' },
      seconds: { type: 'string', default: '4' },
      json: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
  })
  if (values.list) {
    for (const one of WORKLOADS) console.log(`${one.name.padEnd(14)} ${one.what}`)
    for (const one of PEERS) console.log(`${one.name.padEnd(30)} ${one.version.padEnd(12)} ${one.settings}`)
    return
  }
  const seconds = secondsOf(values.seconds)
  const workloads = chosen(WORKLOADS, values.only)
  const peers = chosen(PEERS, values.peers, ';')
  const { home, node } = await installPeers(root)
  const folder = join(root, '.lockstep', 'bench')
  mkdirSync(folder, { recursive: true })
  const machine = describeMachine(root, folder)
  const postgres = await startPostgres({
    home: folder,
    database: 'bench',
    settings: SETTINGS,
    onProgress: console.error,
  })
  const compared: Compared[] = []
  try {
    for (const workload of workloads) {
      for (const peer of peers) {
        if (peer.lacks.includes(workload.name)) continue
        const outcome = await inItsDatabase(postgres.connectionString, async (connectionString) =>
          inItsProcess(root, node, {
            peer: peer.name,
            workload: workload.name,
            connectionString,
            home,
            warmupSeconds: WARMUP_SECONDS,
            seconds,
          }),
        )
        compared.push({ workload, peer, outcome })
        console.error(line(workload, peer, outcome))
      }
    }
  } finally {
    await postgres.stop()
  }
  const now = new Date().toISOString()
  const date = now.slice(0, 10)
  const head = {
    machine,
    node: '24.22.3',
    postgres: postgres.version,
    settings: SETTINGS,
    date,
    seconds,
  }
  const text = reportPeers(head, compared)
  console.log(values.json ? JSON.stringify(compared.map(flat), null, 2) : text)
  if (values.keep) {
    const path = join(
      root,
      'bench',
      'results',
      `peers-${date}-${now.slice(11, 16).replace(':', '')}-${machine.commit}.md`,
    )
    writeFileSync(path, text)
    console.error(`written to ${path}`)
  }
}

const flat = ({ workload, peer, outcome }: Compared): object => ({
  workload: workload.name,
  unit: workload.unit,
  system: peer.name,
  version: peer.version,
  nearest: peer.nearest[workload.name] ?? null,
  ...outcome,
})

function line(workload: Workload, peer: Peer, { rate, p50, p99, errors }: PeerOutcome): string {
  const figure = workload.unit === 'ms' ? '' : `${rate.toFixed(0).padStart(8)} ${workload.unit}`
  const times = Number.isNaN(p50) ? '' : ` p50 ${p50.toFixed(2)} p99 ${p99.toFixed(2)} ms`
  return `${workload.name.padEnd(14)} ${peer.name.padEnd(30)} ${figure}${times}${errors.length > 0 ? ` ERRORS ${errors.join('; ')}` : ''}`
}

async function inItsDatabase<T>(connectionString: string, work: (connectionString: string) => Promise<T>): Promise<T> {
  const name = `peer_${Date.now()}`
  const client = new Client({ connectionString })
  await client.connect()
  try {
    await client.query(`create database ${name}`)
    const url = new URL(connectionString)
    url.pathname = `/${name}`
    return await work(url.href)
  } finally {
    await client.query(`drop database if exists ${name} with (force)`)
    await client.end()
  }
}

async function inItsProcess(root: string, node: string, job: PeerJob): Promise<PeerOutcome> {
  const path = join(root, '.build', 'bench', 'peers', 'peer-process.js')
  const child = fork(path, {
    execPath: node,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: nodeOptions(),
    serialization: 'advanced',
  })
  const reply = await new Promise<PeerReply>((resolve, reject) => {
    child.once('message', (answer: PeerReply) => resolve(answer))
    child.once('exit', (code) => reject(new Error(`${job.peer} ${job.workload} ended with ${code ?? 'a signal'}`)))
    child.send(job)
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  if (child.connected) child.disconnect()
  await ended
  if ('failure' in reply) return { rate: Number.NaN, p50: Number.NaN, p99: Number.NaN, errors: [reply.failure] }
  return reply.outcome
}

/** LOCKSTEP_BENCH_PROFILE=<folder>: a processor profile of each measuring process. */
function nodeOptions(): string[] {
  const folder = process.env['LOCKSTEP_BENCH_PROFILE']
  // The peers' own calls of pg warn of what its next version refuses.
  const quiet = ['--no-deprecation']
  return folder === undefined ? quiet : [...quiet, '--cpu-prof', `--cpu-prof-dir=${folder}`]
}
