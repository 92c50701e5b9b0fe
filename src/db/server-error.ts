// Finds the server's own error under whatever a driver or a library has wrapped around it, and reads its fields. Decides
// nothing about what it means.

/** Where libraries keep what they caught: `cause` (Drizzle, MikroORM, Prisma), `driverError` (TypeORM), Prisma's `meta`. */
const INSIDE = ['cause', 'driverError', 'meta', 'driverAdapterError', 'originalError', 'previous']
const DEPTH = 6

export interface ServerError {
  readonly sqlstate: string
  readonly message: string
  readonly detail: string | null
  readonly hint: string | null
  readonly severity: string | null
  /** The function of the server that raised it; null where a library drops it. */
  readonly routine: string | null
}

/** Null for errors that are not the server's. */
export function serverErrorOf(error: unknown): ServerError | null {
  return search(error, DEPTH)
}

function search(at: unknown, depth: number): ServerError | null {
  if (typeof at !== 'object' || at === null || depth === 0) return null
  const found = read(at)
  // An inner one is nearer to the server: Prisma's own code for it has another meaning.
  for (const field of INSIDE) {
    const inner = search(Reflect.get(at, field), depth - 1)
    if (inner !== null) return inner
  }
  return found
}

function read(at: object): ServerError | null {
  const sqlstate = textOf(at, 'originalCode') ?? textOf(at, 'code')
  // A digit tells a SQLSTATE from EPIPE. Prisma's own codes begin at P1; PostgreSQL's class for PL/pgSQL is P0.
  if (sqlstate === null || !/^(?=.*\d)[0-9A-Z]{5}$/.test(sqlstate) || /^P[1-9]/.test(sqlstate)) return null
  return {
    sqlstate,
    message: textOf(at, 'originalMessage') ?? textOf(at, 'message') ?? '',
    detail: textOf(at, 'detail'),
    hint: textOf(at, 'hint'),
    severity: textOf(at, 'severity'),
    routine: textOf(at, 'routine'),
  }
}

function textOf(at: object, field: string): string | null {
  const value: unknown = Reflect.get(at, field)
  return typeof value === 'string' ? value : null
}
