// The two methods through which the broker tells what happened. No payload, key/value value, token or connection string is
// ever handed to it: names, codes, counts and request ids only.

export type LogFields = Readonly<Record<string, string | number | boolean | null>>

export interface Logger {
  info(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
}

export const silent: Logger = { info() {}, error() {} }

/** One line of JSON per event on the standard error stream; `level` error leaves out the rest. */
export function jsonLogger(level: 'info' | 'error' | 'silent' = 'info'): Logger {
  if (level === 'silent') return silent
  const write = (kind: string, event: string, fields: LogFields): void => {
    process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level: kind, event, ...fields })}\n`)
  }
  return {
    info: level === 'info' ? (event, fields = {}) => write('info', event, fields) : () => {},
    error: (event, fields = {}) => write('error', event, fields),
  }
}
