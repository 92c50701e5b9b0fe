// The shared suite on its library, where the client can be generated.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prismaTx } from 'lockstep/prisma'
import { adapterSuite } from './adapter-suite.ts'
import { preparePrisma } from './subjects/prisma.ts'

const open = await preparePrisma()
if (open !== null) adapterSuite('prisma', open)

test('prisma: what has no transaction of it is refused without a database', () => {
  // @ts-expect-error a transaction has queries
  assert.throws(() => prismaTx({}), { code: 'not_a_transaction', message: /not the client/ })
  // @ts-expect-error a client can connect
  assert.throws(() => prismaTx({ $queryRawUnsafe: async () => [], $connect: async () => {} }), {
    code: 'not_a_transaction',
  })
})
