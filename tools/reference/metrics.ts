// docs/reference/metrics.md: names, kinds and meanings, read from the text of src/broker/metrics.ts.
import { code, page, table } from './page.ts'
import type { Page } from './page.ts'

const READING = /\[\s*['`]((?:lockstep|process)_[^'`]+)['`],\s*'(gauge|counter)',\s*['`]([^'`]*)['`]/g
const HELP = /# HELP (\w+) ([^'`]+)['`]/g

export function metricsPage(source: string): Page {
  const readings = [...source.matchAll(READING)].map(([, name = '', kind = '', about = '']) => [name, kind, about])
  const helped = [...source.matchAll(HELP)].map(([, name = '', about = '']) => [name, 'counter', about])
  const rows = [...readings, ...helped].map(([name = '', kind = '', about = '']) => [
    code(name.replaceAll('${verb}', '<verb>')),
    kind,
    about.replaceAll('${verb}', '`<verb>`'),
  ])
  return page(
    'metrics.md',
    'Metrics',
    '`GET /metrics/prometheus` prints these. Labels are routes and statuses, never names that users chose. `<verb>` is each verb whose calls are joined.',
    table(['metric', 'kind', 'meaning'], rows),
  )
}
