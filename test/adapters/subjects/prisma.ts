// Prisma with its driver adapter and a client generated for the test.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRequire } from 'node:module'
import { PrismaPg } from '@prisma/adapter-pg'
import { prismaSteps, prismaTx, type PrismaDatabase, type PrismaTransaction } from 'lockstep/prisma'
import { packageRoot } from '../../../src/db/sql-files.ts'
import { generatePrisma } from '../../../tools/tests/generate-prisma.ts'
import type { OpenSubject } from '../subject.ts'

/** Of a generated client, what the suite uses; the guide's program is compiled against a real one. */
export interface PrismaTx extends PrismaTransaction {
  $executeRawUnsafe(statement: string): Promise<number>
  readonly order: { create(row: { data: { id: bigint; status: string } }): Promise<unknown> }
}

interface PrismaClient extends PrismaDatabase<PrismaTx> {
  $disconnect(): Promise<void>
}

type ClientClass = new (options: { adapter: PrismaPg }) => PrismaClient

function isClientClass(value: unknown): value is ClientClass {
  return typeof value === 'function'
}

/** Null where the generator cannot be had. */
export async function preparePrisma(): Promise<OpenSubject<PrismaTx> | null> {
  const root = packageRoot()
  const schema = readFileSync(join(root, 'test', 'adapters', 'prisma', 'schema.prisma'), 'utf8')
  const folder = await generatePrisma({ root, schema, into: join(root, '.lockstep', 'prisma-client') })
  if (folder === null) return null
  const generated: unknown = createRequire(import.meta.url)(join(folder, 'generated', 'prisma'))
  const found: unknown =
    typeof generated === 'object' && generated !== null ? Reflect.get(generated, 'PrismaClient') : null
  if (!isClientClass(found)) throw new Error('the generated client has no PrismaClient')
  return async (connectionString) => {
    const prisma = new found({ adapter: new PrismaPg({ connectionString }) })
    return {
      completion: prismaSteps(prisma),
      join: prismaTx,
      transaction: async (body) => prisma.$transaction(body, { timeout: 60_000 }),
      async nested(tx, body) {
        await tx.$executeRawUnsafe('savepoint inner_one')
        try {
          await body(tx)
          await tx.$executeRawUnsafe('release savepoint inner_one')
        } catch (error) {
          await tx.$executeRawUnsafe('rollback to savepoint inner_one')
          throw error
        }
      },
      async run(tx, statement) {
        await tx.$executeRawUnsafe(statement)
      },
      async insert(tx, id, status) {
        await tx.order.create({ data: { id, status } })
      },
      wrong: {
        // @ts-expect-error the client is no transaction
        'the client': () => prismaTx(prisma),
        // @ts-expect-error nothing is no transaction
        nothing: () => prismaTx(null),
      },
      afterEnd: 'rejected',
      patienceMs: 5_000,
      close: async () => prisma.$disconnect(),
    }
  }
}
