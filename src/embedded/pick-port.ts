// Chooses a TCP port of 127.0.0.1. A port that was asked for is taken or refused, never silently replaced: whoever may
// want another one decides that himself.

import { createServer } from 'node:net'
import { embeddedError, reasonOf, systemCode } from './embedded-error.ts'

/** The asked port if it is free; where none was asked for that of the last run, so that who reached it then does again, or any free one. */
export async function pickPort(asked: number | null, last: number | null = null): Promise<number> {
  if (asked === null) {
    if (last === null) return await tryPort(0)
    return await tryPort(last).catch(async () => tryPort(0))
  }
  try {
    return await tryPort(asked)
  } catch (error) {
    if (systemCode(error) === 'EADDRINUSE') {
      throw embeddedError(
        `Port ${asked} of 127.0.0.1 is taken by another program, so PostgreSQL cannot listen there.`,
        'Name another port, or none to get a free one.',
        error,
      )
    }
    throw embeddedError(`PostgreSQL cannot listen on port ${asked} of 127.0.0.1: ${reasonOf(error)}.`, '', error)
  }
}

/** Before anything is made for it. */
export function demandPort(port: number): void {
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return
  throw embeddedError(`Port ${port} is no port: a whole number from 1 to 65535 is needed.`)
}

/** Listens for a moment; rejects with the system's error. */
function tryPort(port: number): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer()
    server.once('error', fail)
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address()
      const got = typeof address === 'object' && address !== null ? address.port : port
      server.close(() => done(got))
    })
  })
}
