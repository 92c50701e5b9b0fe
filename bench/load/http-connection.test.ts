import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { openConnection, readAnswer } from './http-connection.ts'

test('an answer in pieces is read when it is whole, with a length, in chunks and without a body', () => {
  const whole = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc')
  for (let cut = 0; cut < whole.length; cut += 1) assert.equal(readAnswer(whole.subarray(0, cut)), null)
  assert.deepEqual(readAnswer(whole), { status: 200, body: 'abc' })
  const chunked = Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n')
  for (let cut = 0; cut < chunked.length; cut += 1) assert.equal(readAnswer(chunked.subarray(0, cut)), null)
  assert.deepEqual(readAnswer(chunked), { status: 200, body: 'abcde' })
  assert.deepEqual(readAnswer(Buffer.from('HTTP/1.1 204 No Content\r\n\r\n')), { status: 204, body: '' })
})

test('requests on one connection are answered one after the other, non-ASCII bodies included', async () => {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (text: string) => (body += text))
    request.on('end', () => response.end(`${request.method ?? ''} ${body}`))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const connection = await openConnection(`http://127.0.0.1:${address.port}`)
  try {
    assert.deepEqual(await connection.send('POST', '/x', '"é"'), { status: 200, body: 'POST "é"' })
    assert.deepEqual(await connection.send('GET', '/x'), { status: 200, body: 'GET ' })
  } finally {
    connection.close()
    server.close()
  }
})
