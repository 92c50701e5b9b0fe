// docs/reference/queue-options.md: the options of a queue, from the table that configure checks by.
import { QUEUE_OPTION_MEANINGS } from '../../src/protocol/queue-option-meanings.ts'
import { QUEUE_OPTIONS } from '../../src/protocol/queue-options.ts'
import type { QueueOption } from '../../src/protocol/queue-options.ts'
import { code, page, table } from './page.ts'
import type { Page } from './page.ts'

const MEANINGS: Readonly<Record<string, string>> = QUEUE_OPTION_MEANINGS

export function queueOptionsPage(): Page {
  const rows = Object.entries(QUEUE_OPTIONS).map(([name, option]: [string, QueueOption]) => [
    code(name),
    option.kind,
    code(option.fallback === '' ? '""' : String(option.fallback)),
    bounds(option),
    option.enforced ? 'yes' : 'stored and echoed only',
    MEANINGS[name] ?? '',
  ])
  return page(
    'queue-options.md',
    'Queue options',
    'All options are checked, stored and echoed by `configure`. The column "enforced" says whether this version acts on them.',
    table(['option', 'kind', 'default', 'bounds', 'enforced', 'meaning'], rows),
  )
}

function bounds(option: QueueOption): string {
  if (option.min === undefined && option.max === undefined) return ''
  return `${option.min?.toLocaleString('en-US') ?? ''} … ${option.max?.toLocaleString('en-US') ?? ''}`
}
