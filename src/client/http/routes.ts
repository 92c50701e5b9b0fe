// Calls of the wire by method and path, answered with their text; a read of what is not there may answer null.
import { LockstepError } from '../../protocol/errors.ts'
import { httpCall, type HttpSettings } from './http-call.ts'

export interface Routes {
  readonly read: (path: string) => Promise<string>
  /** Null when the broker says `not_found`. */
  readonly find: (path: string) => Promise<string | null>
  readonly post: (path: string, body: string, repeatable: boolean) => Promise<string>
  readonly remove: (path: string) => Promise<string>
}

/** Null instead of the fault that says that there is no such thing. */
export async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof LockstepError && error.code === 'not_found') return null
    throw error
  }
}

export function httpRoutes(settings: HttpSettings): Routes {
  const call = async (method: 'GET' | 'DELETE', path: string): Promise<string> =>
    (await httpCall(settings, { method, path, repeatable: true })).text
  return {
    read: async (path) => call('GET', path),
    find: async (path) => orNull(call('GET', path)),
    post: async (path, body, repeatable) => (await httpCall(settings, { method: 'POST', path, body, repeatable })).text,
    remove: async (path) => call('DELETE', path),
  }
}

/** The query of a path, of what is there; empty without any. */
export function queryText(values: Readonly<Record<string, string | number | null>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) if (value !== null) query.set(name, String(value))
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}
