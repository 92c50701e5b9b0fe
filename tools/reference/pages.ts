// All generated pages in one list: what `npm run generate` writes and the freshness check compares.
import type { Tree } from '../source/tree.ts'
import { apiPages } from './api.ts'
import { cliPage } from './cli.ts'
import { clientsPage } from './clients.ts'
import { errorsPage } from './errors.ts'
import { heartbeatSource } from './heartbeat-source.ts'
import { httpPage } from './http.ts'
import { limitsPage } from './limits.ts'
import { metricsPage } from './metrics.ts'
import { openApiPage } from './openapi.ts'
import type { Page } from './page.ts'
import { queueOptionsPage } from './queue-options.ts'
import { settingsPage } from './settings.ts'
import { sqlPage } from './sql-functions.ts'

export function pagesOf(tree: Tree): readonly Page[] {
  const textOf = (path: string): string => tree.find((file) => file.path === path)?.text ?? ''
  return [
    cliPage(),
    clientsPage(tree),
    errorsPage(),
    limitsPage(textOf('src/protocol/limits.ts')),
    queueOptionsPage(),
    sqlPage(tree),
    httpPage(),
    openApiPage(tree),
    settingsPage(),
    metricsPage(textOf('src/broker/metrics.ts')),
    ...apiPages(tree),
    heartbeatSource(),
  ]
}
