// Prisma with its PostgreSQL driver adapter. `in(prismaTx(tx))` joins an interactive transaction; `prismaSteps(prisma)` lets a step
// complete in one, which may last as long as the step and not Prisma's own five seconds. It answers success to a COMMIT that
// became a rollback, so what it says of a commit is never read.
import type { Completion, Door } from '../protocol/completion.ts'
import { joinable, refuseTransaction, type Joinable } from '../protocol/joinable.ts'
import { firstText } from './first-text.ts'

/** By shape, as each project generates its own client. A client, which can connect, does not fit. */
export interface PrismaTransaction {
  $queryRawUnsafe(statement: string, ...values: string[]): PromiseLike<unknown>
  readonly $connect?: never
}

export interface PrismaDatabase<Tx> {
  $transaction<R>(
    body: (tx: Tx) => Promise<R>,
    options?: { maxWait?: number; timeout?: number; isolationLevel?: 'ReadCommitted' },
  ): Promise<R>
}

export interface PrismaStepsOptions {
  /** How long to wait for a connection of Prisma's pool. Default 10,000. */
  readonly maxWaitMs?: number | undefined
}

const MAX_WAIT_MS = 10_000

function door(tx: PrismaTransaction): Door {
  return {
    text: async (statement, params) => firstText(await tx.$queryRawUnsafe(statement, ...params)),
  }
}

function check(tx: unknown): void {
  const isObject = typeof tx === 'object' && tx !== null
  if (
    !isObject ||
    typeof Reflect.get(tx, '$queryRawUnsafe') !== 'function' ||
    Reflect.get(tx, '$connect') !== undefined
  ) {
    refuseTransaction('prismaTx(tx) takes the tx of prisma.$transaction(async (tx) => …), not the client')
  }
}

export function prismaTx(tx: PrismaTransaction): Joinable {
  return joinable({ library: 'prisma', door: door(tx), check: () => check(tx) })
}

export function prismaSteps<Tx extends PrismaTransaction>(
  prisma: PrismaDatabase<Tx>,
  { maxWaitMs = MAX_WAIT_MS }: PrismaStepsOptions = {},
): Completion<Tx> {
  return {
    library: 'prisma',
    transaction: async (body, { timeoutMs }) =>
      prisma.$transaction(body, { maxWait: maxWaitMs, timeout: timeoutMs, isolationLevel: 'ReadCommitted' }),
    door,
  }
}
