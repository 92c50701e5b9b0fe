// docs/reference/settings.md: the environment variables of the broker.
import { SETTINGS } from '../../src/broker/config.ts'
import { code, page, table } from './page.ts'
import type { Page } from './page.ts'

export function settingsPage(): Page {
  return page(
    'settings.md',
    'Settings',
    'Environment variables of `lockstep serve` (and of `createBroker`, as `settings`). A value that is not understood stops the start with its name and what would be right.',
    table(
      ['setting', 'type', 'default', 'meaning'],
      Object.entries(SETTINGS).map(([name, setting]) => [
        code(name),
        setting.type,
        code(setting.fallback),
        setting.about,
      ]),
    ),
  )
}
