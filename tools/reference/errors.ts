// docs/reference/errors.md: the table of faults as users meet it.
import { ERROR_MEANINGS } from '../../src/protocol/error-meanings.ts'
import { ERRORS } from '../../src/protocol/errors.ts'
import { code, page, table } from './page.ts'
import type { Page } from './page.ts'

const MEANINGS: Readonly<Record<string, string>> = ERROR_MEANINGS

export function errorsPage(): Page {
  const rows = Object.entries(ERRORS).map(([name, row]) => [
    code(name),
    String(row.status),
    row.retry,
    code(row.sqlstate ?? ''),
    MEANINGS[name] ?? '',
  ])
  return page(
    'errors.md',
    'Errors',
    'Every fault is one `LockstepError` with a stable `code`. `retry` says what a caller may do: `never` (the same call fails again), `safe` (nothing was changed, call again now), `later` (call again after a pause; over HTTP `Retry-After` says how long). Expected outcomes, such as a lost version or a lapsed lease, are values and not listed here.',
    table(['code', 'HTTP', 'retry', 'SQLSTATE', 'meaning'], rows),
  )
}
