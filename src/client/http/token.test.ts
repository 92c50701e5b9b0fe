// A client's token: asked for when it is needed, renewed when it is refused, refused when it is none.
import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import { LockstepError } from '../../protocol/errors.ts'
import { httpCall } from './http-call.ts'
import { createAddresses } from './addresses.ts'
import { createToken } from './token.ts'

async function address(
  t: TestContext,
  reply: (authorization: string | undefined, response: ServerResponse) => void,
): Promise<{ readonly base: string; readonly requests: string[] }> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      requests.push(request.url ?? '')
      reply(request.headers.authorization, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const given = server.address()
  const port = typeof given === 'object' && given !== null ? given.port : 0
  return { base: `http://127.0.0.1:${port}`, requests }
}

test('a token that is refused is asked for once more, for all that wait, and never again for a fixed one', async (t) => {
  let given = 0
  let accepted = 'token-2'
  const { base, requests } = await address(t, (authorization, response) => {
    const passes = authorization === `Bearer ${accepted}`
    response.writeHead(passes ? 200 : 401, { 'content-type': 'application/json' })
    response.end(passes ? '{"results":[]}' : '{"error":"Token has expired","code":"unauthorized"}')
  })
  const token = createToken(async () => {
    given += 1
    return `token-${given}`
  })
  const settings = { addresses: createAddresses([base]), headers: {}, token, timeoutMs: 5_000 }
  const call = { method: 'POST', path: '/api/v1/kv', body: '{}', repeatable: false } as const
  const answers = await Promise.all([httpCall(settings, call), httpCall(settings, call), httpCall(settings, call)])
  assert.deepEqual(
    answers.map((each) => each.status),
    [200, 200, 200],
  )
  assert.equal(given, 2, 'one before the first requests, one for all that were refused')
  assert.equal((await httpCall(settings, call)).status, 200)
  assert.equal(given, 2, 'what passed is kept')

  accepted = 'nobody has this'
  const fault = await httpCall(settings, call).catch((error: unknown) => error)
  assert.ok(fault instanceof LockstepError)
  assert.deepEqual([fault.code, fault.message, given], ['unauthorized', 'Token has expired', 3])
  const before = requests.length
  await assert.rejects(httpCall({ ...settings, token: createToken('fixed') }, call), { code: 'unauthorized' })
  assert.equal(requests.length, before + 1, 'a fixed token is sent once')
})

test('what is no token is refused without being repeated', async () => {
  for (const wrong of ['', 'a b', 'line\nbreak', 'caf\u00e9']) {
    assert.throws(
      () => createToken(wrong),
      (error: Error) => error.message.startsWith('token must be') && (wrong === '' || !error.message.includes(wrong)),
    )
    await assert.rejects(async () => createToken(() => wrong).get(), /^LockstepError: token must be/)
  }
})
