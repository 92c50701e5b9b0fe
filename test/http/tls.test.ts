// TLS: requests over it, a certificate that is renewed while it serves, old versions refused, and files that do not fit.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { test } from 'node:test'
import { createBroker } from '../../src/broker/create-broker.ts'
import { readSettings, tlsOptions } from '../../src/broker/config.ts'
import type { TestEnd } from '../../src/testing/database.ts'
import { CERTIFICATES } from '../kit/certificates.ts'
import { until } from '../kit/quiet.ts'
import { serve } from './served.ts'

interface Files {
  readonly certFile: string
  readonly keyFile: string
  readonly write: (pair: { readonly cert: string; readonly key: string }) => void
}

function files(t: TestEnd): Files {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-tls-'))
  t.after(async () => rmSync(folder, { recursive: true, force: true }))
  const certFile = join(folder, 'cert.pem')
  const keyFile = join(folder, 'key.pem')
  return {
    certFile,
    keyFile,
    write({ cert, key }) {
      writeFileSync(keyFile, key)
      writeFileSync(certFile, cert)
    },
  }
}

function get(url: string, ca: string): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}/health`, { ca, agent: false }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

function handshake(url: string, maxVersion: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const options = {
      host: hostname,
      port: Number(port),
      rejectUnauthorized: false,
      minVersion: 'TLSv1' as const,
      maxVersion,
    }
    const socket = connect({ ...options, ciphers: 'DEFAULT@SECLEVEL=0' })
    socket.on('secureConnect', () => {
      resolve(`${socket.getProtocol()} ${String(socket.getPeerCertificate().subject.CN)}`)
      socket.destroy()
    })
    socket.on('error', () => resolve('refused'))
  })
}

test('it serves HTTPS, reads a renewed certificate without a restart, and keeps the old one when the files do not fit', async (t) => {
  const { db } = await serve(t)
  const { certFile, keyFile, write } = files(t)
  write(CERTIFICATES.one)
  const told: string[] = []
  const logger = { info: (event: string) => void told.push(event), error: (event: string) => void told.push(event) }
  const broker = createBroker({
    connectionString: db.connectionString,
    port: 0,
    tls: { certFile, keyFile, minVersion: 'TLSv1.2' },
    logger,
  })
  await broker.start()
  t.after(() => broker.stop())
  assert.match(broker.address, /^https:/)
  assert.equal((await get(broker.address, CERTIFICATES.one.cert)).status, 200)
  await assert.rejects(get(broker.address, CERTIFICATES.two.cert), 'a stranger is not believed')
  assert.equal(await handshake(broker.address, 'TLSv1.1'), 'refused')
  assert.equal(await handshake(broker.address, 'TLSv1.2'), 'TLSv1.2 one.test')

  writeFileSync(certFile, CERTIFICATES.two.cert)
  process.emit('SIGHUP', 'SIGHUP')
  await until('the refusal of a pair that does not fit', async () =>
    told.some((event) => /the old one is kept/.test(event)),
  )
  assert.equal(await handshake(broker.address, 'TLSv1.3'), 'TLSv1.3 one.test')
  write(CERTIFICATES.two)
  process.emit('SIGHUP', 'SIGHUP')
  await until(
    'the renewed certificate',
    async () => (await handshake(broker.address, 'TLSv1.3')) === 'TLSv1.3 two.test',
  )
  assert.equal((await get(broker.address, CERTIFICATES.two.cert)).status, 200)
})

test('files that cannot serve stop the start, with the setting and without the key', async (t) => {
  const { certFile, keyFile, write } = files(t)
  write({ cert: CERTIFICATES.one.cert, key: CERTIFICATES.two.key })
  const start = (tls: { certFile: string; keyFile: string }): Promise<void> =>
    createBroker({ connectionString: 'postgres://nobody@127.0.0.1:1/none', port: 0, tls }).start()
  await assert.rejects(start({ certFile, keyFile }), (error: Error) => {
    assert.match(
      error.message,
      /LOCKSTEP_TLS_CERT_FILE and LOCKSTEP_TLS_KEY_FILE must be a certificate and its own key/,
    )
    assert.ok(!error.message.includes('PRIVATE'))
    return true
  })
  await assert.rejects(start({ certFile, keyFile: `${keyFile}.gone` }), /LOCKSTEP_TLS_KEY_FILE must name a file/)
  assert.throws(() => tlsOptions(readSettings({ LOCKSTEP_TLS_CERT_FILE: certFile })), /both or not at all/)
  assert.equal(tlsOptions(readSettings({})), null)
})

test('secrets come from files too; a file that is missing, empty, doubled or huge is refused without its content', (t) => {
  const { keyFile } = files(t)
  writeFileSync(keyFile, 'from a file\n')
  assert.equal(readSettings({ JWT_SECRET_FILE: keyFile }).JWT_SECRET, 'from a file')
  assert.throws(() => readSettings({ JWT_SECRET_FILE: keyFile, JWT_SECRET: 'also' }), /JWT_SECRET must be given once/)
  assert.throws(
    () => readSettings({ JWT_SECRET_FILE: `${keyFile}.gone` }),
    /JWT_SECRET_FILE must name a file that can be read \(ENOENT\)/,
  )
  writeFileSync(keyFile, '\n')
  assert.throws(() => readSettings({ JWT_SECRET_FILE: keyFile }), /that is not empty/)
  writeFileSync(keyFile, 'x'.repeat(70_000))
  assert.throws(() => readSettings({ JWT_SECRET_FILE: keyFile }), /of at most 65536 bytes/)
})
