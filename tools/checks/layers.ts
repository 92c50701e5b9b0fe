// Who may import whom, room by room, and no cycles: the arrows of ARCHITECTURE.md as data. A room that is not in the
// table may not exist.
import { dirname, join, normalize } from 'node:path'
import type { Fault } from '../source/fault.ts'
import type { Tree } from '../source/tree.ts'
import { importsOf } from '../source/typescript.ts'

const ROOMS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  db: ['protocol'],
  operations: ['db', 'protocol'],
  upkeep: ['db', 'protocol'],
  traffic: ['operations', 'db', 'protocol'],
  broker: ['traffic', 'operations', 'upkeep', 'db', 'protocol'],
  // Definitions and handles are pure: they bundle for a browser and know the client by its types.
  define: ['client', 'protocol'],
  run: ['client', 'define', 'protocol'],
  client: ['define', 'run', 'protocol'],
  workflow: ['client', 'define', 'run', 'traffic', 'operations', 'db', 'protocol'],
  embedded: ['protocol'],
  adapters: ['protocol'],
  testing: ['*'],
  cli: ['*'],
}

/** The part of the client that works straight on PostgreSQL, reached only through `#postgres`. */
const IN_PROCESS = /^src\/client\/(transport-postgres(-[a-z-]+)?\.ts|postgres\/)/
const IN_PROCESS_MAY = ['client', 'define', 'run', 'workflow', 'traffic', 'operations', 'upkeep', 'db', 'protocol']

/** Entries beside the rooms, and what each may show. */
const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  'src/index.ts': ['client', 'protocol', 'db', 'adapters'],
  'src/browser.ts': ['client', 'protocol'],
  'src/http.ts': ['client', 'protocol'],
  'src/streams.ts': ['client', 'protocol'],
}

/** Rooms that must bundle for a browser. */
const BROWSER = /^src\/(protocol|client|workflow\/(define|run))\//

export function checkLayers(tree: Tree): readonly Fault[] {
  const sources = tree.filter((file) => /^src\/.*\.ts$/.test(file.path) && !file.path.endsWith('.test.ts'))
  const verbs = new Set(sources.filter((file) => isVerb(file.path, file.text)).map((file) => file.path))
  const faults: Fault[] = []
  const edges = new Map<string, string[]>()
  for (const file of sources) {
    const allowed = allowedFor(file.path)
    if (allowed === undefined) {
      faults.push({
        path: file.path,
        line: 1,
        what: 'stands in no known room of src/',
        instead: 'move it into a room of ARCHITECTURE.md, or add the room to tools/checks/layers.ts with its arrows',
      })
      continue
    }
    for (const found of importsOf(file.text)) {
      const at = { path: file.path, line: found.line }
      if (!found.specifier.startsWith('.')) {
        const builtIn = found.specifier.startsWith('node:') || found.specifier === 'pg'
        if (builtIn && !found.typeOnly && BROWSER.test(file.path) && !IN_PROCESS.test(file.path)) {
          faults.push({
            ...at,
            what: `imports '${found.specifier}' in a room that bundles for a browser`,
            instead: 'use what browsers have too (globalThis.crypto, TextEncoder), or move it behind #postgres',
          })
        }
        continue
      }
      const target = normalize(join(dirname(file.path), found.specifier)).replaceAll('\\', '/')
      if (!found.typeOnly) edges.set(file.path, [...(edges.get(file.path) ?? []), target])
      faults.push(...judge(file.path, target, found.line, allowed, verbs))
    }
  }
  return [...faults, ...cycles(edges)]
}

function allowedFor(path: string): readonly string[] | undefined {
  if (IN_PROCESS.test(path)) return IN_PROCESS_MAY
  const room = roomOf(path)
  if (room === null) return ENTRIES[path]
  const may = ROOMS[room]
  return may === undefined ? undefined : [room, ...may]
}

function judge(
  from: string,
  target: string,
  line: number,
  allowed: readonly string[],
  verbs: ReadonlySet<string>,
): Fault[] {
  const room = roomOf(target)
  if (!target.startsWith('src/')) {
    return [
      {
        path: from,
        line,
        what: `imports ${target} from outside src/`,
        instead: 'src/ stands alone: move the shared piece into a room of it',
      },
    ]
  }
  if (room === null && from.startsWith('src/cli/')) return []
  if (room === null)
    return [{ path: from, line, what: `imports the entry ${target}`, instead: 'import the file that defines the name' }]
  if (!allowed.includes('*') && !allowed.includes(room)) {
    return [
      {
        path: from,
        line,
        what: `${roomOf(from) ?? from} may not import ${room} (${target})`,
        instead: `it may import ${allowed.join(', ')}; move the shared piece down, or pass it in as a parameter`,
      },
    ]
  }
  if (verbs.has(from) && verbs.has(target)) {
    return [
      {
        path: from,
        line,
        what: `an operation calls another operation (${target})`,
        instead: 'do both in one SQL function, or share the row reader in a file that runs no statement',
      },
    ]
  }
  if (
    IN_PROCESS.test(target) &&
    !IN_PROCESS.test(from) &&
    room === 'client' &&
    !allowed.includes('*') &&
    roomOf(from) !== 'workflow'
  ) {
    return [
      {
        path: from,
        line,
        what: `imports ${target} directly`,
        instead: "reach it by import('#postgres'), so that the client bundles for a browser",
      },
    ]
  }
  return []
}

/** A file of operations/ that runs a statement of its own. */
function isVerb(path: string, text: string): boolean {
  return path.startsWith('src/operations/') && /\bselect\b[^;]*\blockstep\./i.test(text)
}

function roomOf(path: string): string | null {
  // Two of the workflow's rooms are on the client's side of the border.
  const pure = /^src\/workflow\/(define|run)\//.exec(path)?.[1]
  if (pure !== undefined) return pure
  return /^src\/([^/]+)\//.exec(path)?.[1] ?? null
}

function cycles(edges: ReadonlyMap<string, readonly string[]>): Fault[] {
  const faults: Fault[] = []
  const done = new Set<string>()
  const visit = (path: string, way: readonly string[]): void => {
    const start = way.indexOf(path)
    if (start !== -1) {
      faults.push({
        path,
        line: 1,
        what: `cycle of imports: ${[...way.slice(start), path].join(' -> ')}`,
        instead: 'move what both need into a third file, or make one of the imports a type',
      })
      return
    }
    if (done.has(path)) return
    for (const next of edges.get(path) ?? []) visit(next, [...way, path])
    done.add(path)
  }
  for (const path of edges.keys()) visit(path, [])
  return faults
}
