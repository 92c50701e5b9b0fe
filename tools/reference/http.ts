// docs/reference/http.md: every route the broker serves, from the table that serves it.
import { ROUTES } from '../../src/broker/http/routes.ts'
import type { BodyPart } from '../../src/broker/http/body-parts.ts'
import type { Route } from '../../src/broker/http/route.ts'
import type { Fields } from '../../src/protocol/check.ts'
import { code, page, table } from './page.ts'
import type { Page } from './page.ts'

export function httpPage(): Page {
  const list = table(
    ['method', 'path', 'access', 'purpose'],
    ROUTES.map((route) => [route.method, code(route.path), route.access, route.about]),
  )
  return page(
    'http.md',
    'HTTP',
    'Plain HTTP/1.1, JSON both ways, port 6632 unless told otherwise. Unknown body keys and query parameters are ignored. A fault answers `{"error":"…","code":"…"}` with the status of [errors.md](errors.md); what lies past a bound of [limits.md](limits.md) is refused. Access names the role that a route asks for when tokens are checked: `admin` may call everything, `read-write` all but that, `read-only` and `write-only` their own; who has no token gets 401, who has the wrong role 403.',
    `${list}\n\n${ROUTES.map(section).join('\n\n')}`,
  )
}

function section(route: Route): string {
  const parts = [`## ${route.method} ${route.path}`, route.about]
  if (route.query !== undefined) parts.push('Query:', fieldTable(route.query))
  if (typeof route.body === 'string') parts.push(`Body: ${route.body}`)
  else if (isParts(route.body)) {
    for (const { at, fields } of route.body) parts.push(at === '' ? 'Body:' : `${code(at)}:`, fieldTable(fields))
  } else if (route.body !== undefined) parts.push('Body:', fieldTable(route.body))
  parts.push(
    ...Object.entries(route.answers).map(([status, text]) =>
      /^[[{]/.test(text) ? `${status}:\n\n\`\`\`\n${text}\n\`\`\`` : `${status}: ${text}`,
    ),
  )
  return parts.join('\n\n')
}

function isParts(body: Route['body']): body is readonly BodyPart[] {
  return Array.isArray(body)
}

function fieldTable(fields: Fields): string {
  return table(
    ['field', 'required', 'type'],
    Object.entries(fields).map(([name, field]) => [code(name), field.optional ? 'no' : 'yes', field.type]),
  )
}
