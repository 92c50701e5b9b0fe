// Finds the route of a path: a tree of segments made once from the table. Segments are decoded one by one, so a name may
// hold an encoded slash. It looks only at what the table says; nothing here reaches a file system.
import { LockstepError } from '../../protocol/errors.ts'
import type { Method, Route } from './route.ts'

interface Branch {
  readonly literals: Map<string, Branch>
  parameter: Branch | null
  readonly routes: Map<string, Route>
  /** Routes whose last segment takes the rest of the path. */
  readonly rest: Map<string, Route>
}

export interface Match {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

/** null: no such path. A list: the path exists with these methods. */
export type FindRoute = (method: string, path: string) => Match | readonly Method[] | null

const branch = (): Branch => ({ literals: new Map(), parameter: null, routes: new Map(), rest: new Map() })

const NO_PARAMS: Readonly<Record<string, string>> = {}

export function compileRoutes(routes: readonly Route[]): FindRoute {
  const top = branch()
  const fixed = new Map<string, Match>()
  for (const route of routes) {
    if (!/[:*]/.test(route.path)) fixed.set(`${route.method} ${route.path}`, { route, params: NO_PARAMS })
    plant(top, route)
  }

  return (method, path) => {
    const known = fixed.get(`${method} ${path}`)
    if (known) return known
    const segments = path.split('/').slice(1)
    const found = walk(top, segments, 0)
    if (!found) return null
    const route = found.routes.get(method)
    if (route) return { route, params: paramsOf(route, segments) }
    return methodsOf(found.routes)
  }
}

function plant(top: Branch, route: Route): void {
  let at = top
  for (const segment of route.path.split('/').slice(1)) {
    if (segment.startsWith('*')) {
      at.rest.set(route.method, route)
      return
    }
    if (segment.startsWith(':')) at = at.parameter ??= branch()
    else {
      const next = at.literals.get(segment) ?? branch()
      at.literals.set(segment, next)
      at = next
    }
  }
  at.routes.set(route.method, route)
}

/** The most literal way wins; a way that ends nowhere is left for the next one. */
function walk(at: Branch, segments: readonly string[], index: number): { routes: Map<string, Route> } | null {
  const segment = segments[index]
  if (segment === undefined) return at.routes.size > 0 ? at : null
  const literal = at.literals.get(segment)
  const way = literal ? walk(literal, segments, index + 1) : null
  if (way) return way
  const named = at.parameter && segment !== '' ? walk(at.parameter, segments, index + 1) : null
  if (named) return named
  return at.rest.size > 0 && segment !== '' ? { routes: at.rest } : null
}

function paramsOf(route: Route, segments: readonly string[]): Readonly<Record<string, string>> {
  const params: Record<string, string> = {}
  for (const [index, name] of route.path.split('/').slice(1).entries()) {
    if (name.startsWith(':')) params[name.slice(1)] = decodeSegment(segments[index] ?? '')
    if (name.startsWith('*')) params[name.slice(1)] = decodeSegment(segments.slice(index).join('/'))
  }
  return params
}

const methodsOf = (routes: ReadonlyMap<string, Route>): readonly Method[] =>
  [...routes.values()].map((route) => route.method)

export function decodeSegment(segment: string): string {
  // Bytes beyond ASCII that a client sent unencoded arrive as one character each.
  const text = /[\u0080-\u00ff]/.test(segment) ? Buffer.from(segment, 'latin1').toString('utf8') : segment
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    throw new LockstepError('bad_request', 'a name in the path must be percent-encoded UTF-8', { field: 'path' })
  }
}
