// Where the client reports what no caller is waiting for: a handler that failed, a poll that will be tried again. Any
// logger with this one method does; details never hold a payload.

export interface Logger {
  warn(details: Readonly<Record<string, unknown>>, message: string): void
  /** What a handler says through `ctx.log`; left out when there is none. */
  info?(details: Readonly<Record<string, unknown>>, message: string): void
}

export const consoleLogger: Logger = {
  warn(details, message) {
    console.warn(`lockstep: ${message}`, details)
  },
}

/** A short text of whatever was thrown. */
export function errorLine(error: unknown): string {
  if (error instanceof Error) return error.message === '' ? error.name : error.message
  return typeof error === 'string' ? error : (JSON.stringify(error) ?? 'unknown error')
}
