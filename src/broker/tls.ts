// TLS: certificate and key from files, read again when they change or when the process is told to, so that a renewed certificate
// needs no restart. A pair that does not fit is reported and the old one kept; it never serves without one.
import { watchFile, unwatchFile, readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { Server } from 'node:https'
import type { SecureVersion } from 'node:tls'
import { LockstepError } from '../protocol/errors.ts'
import { LIMITS } from '../protocol/limits.ts'
import type { Logger } from './logger.ts'

export interface TlsOptions {
  /** PEM: the certificate and those between it and the root. */
  readonly certFile: string
  /** PEM. */
  readonly keyFile: string
  /** Default TLSv1.2. */
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3'
}

export interface TlsMaterial {
  readonly cert: string
  readonly key: string
  readonly minVersion: SecureVersion
}

/** Throws when a file cannot be read or the two do not belong together; no message repeats the key. */
export function readTls(options: TlsOptions): TlsMaterial {
  const material = {
    cert: fileText(options.certFile, 'LOCKSTEP_TLS_CERT_FILE'),
    key: fileText(options.keyFile, 'LOCKSTEP_TLS_KEY_FILE'),
    minVersion: options.minVersion ?? 'TLSv1.2',
  }
  try {
    createSecureContext(material)
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new LockstepError(
      'bad_request',
      `settings LOCKSTEP_TLS_CERT_FILE and LOCKSTEP_TLS_KEY_FILE must be a certificate and its own key in PEM (${reason})`,
      { field: 'LOCKSTEP_TLS_CERT_FILE' },
    )
  }
  return material
}

function fileText(file: string, field: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new LockstepError(
      'bad_request',
      `setting ${field} must name a file that can be read (${reason}); got '${file}'`,
      {
        field,
      },
    )
  }
}

/** Reads the files again when they change and on SIGHUP, until the returned function is called. */
export function followTls(server: Server, options: TlsOptions, logger: Logger): () => void {
  function reload(): void {
    try {
      server.setSecureContext(readTls(options))
      logger.info('certificate read again')
    } catch (error) {
      logger.error('certificate not read, the old one is kept', {
        message: error instanceof Error ? error.message : String(error),
      })
    }
  }
  const files = [options.certFile, options.keyFile]
  const changed = (): void => reload()
  for (const file of files) watchFile(file, { interval: LIMITS.tlsLookMs, persistent: false }, changed)
  process.on('SIGHUP', reload)
  return () => {
    for (const file of files) unwatchFile(file, changed)
    process.off('SIGHUP', reload)
  }
}
