// MikroORM on PostgreSQL. `in(mikroTx(em))` joins the transaction of an entity manager; `mikroSteps(em)` lets a step complete in
// one, in a fork of its own whose changes are flushed before the completion's statement.
import { IsolationLevel, type EntityManager } from '@mikro-orm/postgresql'
import type { Completion, Door } from '../protocol/completion.ts'
import { joinable, refuseTransaction, type Joinable } from '../protocol/joinable.ts'
import { firstText } from './first-text.ts'
import { questionMarks } from './placeholders.ts'

function door(em: EntityManager): Door {
  return {
    async text(statement, params) {
      const { text, values } = questionMarks(statement, params)
      try {
        const rows: unknown = await em.execute(text, values)
        return firstText(rows)
      } catch (error) {
        throw bareError(error, em.getPlatform().formatQuery(text, values))
      }
    },
  }
}

/**
 * MikroORM writes the server's detail behind the message, and before version 7 the statement with its values before it: names for
 * programs and payloads of users.
 */
function bareError(error: unknown, statement: string): unknown {
  for (let at = error, depth = 0; at instanceof Error && depth < 3; at = at.cause, depth++) {
    if (at.message.startsWith(`${statement} - `)) at.message = at.message.slice(statement.length + 3)
    at.message = at.message.replace(/\n - detail: [^]*$/, '')
  }
  return error
}

function check(em: unknown): void {
  const ask: unknown = typeof em === 'object' && em !== null ? Reflect.get(em, 'isInTransaction') : null
  if (typeof ask !== 'function' || Reflect.apply(ask, em, []) !== true) {
    refuseTransaction('mikroTx(em) takes the em of em.transactional(async (em) => …), or one after em.begin()')
  }
}

/** What is persisted and not flushed yet comes after what is said through `in(tx)`, in the same commit. */
export function mikroTx(em: EntityManager): Joinable {
  return joinable({ library: 'mikro-orm', door: door(em), check: () => check(em) })
}

export function mikroSteps(em: EntityManager): Completion<EntityManager> {
  return {
    library: 'mikro-orm',
    transaction: async (body) => em.fork().transactional(body, { isolationLevel: IsolationLevel.READ_COMMITTED }),
    flush: async (tx) => tx.flush(),
    door,
  }
}
