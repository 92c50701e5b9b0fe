// What is public: health and metrics. Health is 200 only when PostgreSQL answers and this broker is here to stay.
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

const ENGINE = 'lockstep'

async function health({ parts }: Call): Promise<Answer> {
  const { database, code } = await parts.health.ask()
  const { draining } = parts.health
  const up = database === 'up' && !draining
  const body = JSON.stringify({
    status: draining ? 'draining' : up ? 'healthy' : 'unhealthy',
    database: database === 'up' ? 'connected' : 'disconnected',
    engine: ENGINE,
    version: parts.version,
    ...(code === null ? {} : { code }),
  })
  return up ? json(body) : { status: 503, body, headers: ['retry-after', '1'] }
}

const status = (): Answer => json(JSON.stringify({ status: 'ok', engine: ENGINE }))
const summary = ({ parts }: Call): Answer => json(JSON.stringify(parts.metrics.summary()))
const prometheus = ({ parts }: Call): Answer => ({
  status: 200,
  body: parts.metrics.prometheus(),
  type: 'text/plain; version=0.0.4; charset=utf-8',
})

const route = (path: string, rank: Route['rank'], about: string, answer: string, handle: Route['handle']): Route => ({
  method: 'GET',
  path,
  access: 'public',
  rank,
  changes: false,
  about,
  answers: { 200: answer },
  handle,
})

export const healthRoutes: readonly Route[] = [
  {
    ...route('/health', 'A', 'Whether this broker and its PostgreSQL answer.', '', health),
    answers: {
      200: '{"status":"healthy","database":"connected","engine":"lockstep","version":"…"}',
      503: '{"status":"unhealthy","database":"disconnected","engine":"lockstep","version":"…","code":"unavailable"}',
    },
  },
  {
    ...route('/status', 'B', 'That this process answers.', '{"status":"ok","engine":"lockstep"}', status),
    access: 'read-only',
  },
  route('/metrics', 'B', 'Counters and gauges as JSON.', '{"uptime":1.5,"requests":{"total":7}}', summary),
  route('/metrics/prometheus', 'B', 'The same as Prometheus text.', 'text', prometheus),
]
