// The key/value verbs, over whatever answers them: the client's own calls, or a transaction that is open already. Every
// lost write is a value with what stands there now.
import { LockstepError } from '../protocol/errors.ts'
import type { KvAnswer, KvOperation, KvResult } from '../protocol/kv.ts'
import {
  checkOperation,
  deleteOperation,
  getManyOperation,
  getOperation,
  getPrefixOperation,
  incrOperation,
  putIfAbsentOperation,
  putOperation,
  type KvCheckOptions,
  type KvCreateOptions,
  type KvGuard,
  type KvIncrOptions,
  type KvPrefixOptions,
  type KvPutOptions,
} from './kv-input.ts'
import {
  entryOf,
  judgedOf,
  lostAlone,
  manyOf,
  pageOf,
  writtenOf,
  type KvEntry,
  type KvJudged,
  type KvLost,
  type KvMany,
  type KvPage,
  type KvWritten,
} from './kv-outcome.ts'
import type { Untyped } from './untyped.ts'

export interface Kv {
  get<V = Untyped>(ns: string, key: string): Promise<KvEntry<V>>
  getMany<V = Untyped>(ns: string, keys: readonly string[]): Promise<KvMany<V>>
  /** Keys that begin with the prefix, in byte order. */
  getPrefix<V = Untyped>(ns: string, prefix: string, options?: KvPrefixOptions): Promise<KvPage<V>>
  put<V = Untyped>(ns: string, key: string, value: V, options: KvPutOptions): Promise<KvWritten<V>>
  putIfAbsent<V = Untyped>(ns: string, key: string, value: V, options: KvCreateOptions): Promise<KvWritten<V>>
  delete<V = Untyped>(ns: string, key: string, options?: KvGuard): Promise<KvJudged<V>>
  /** Exact decimal arithmetic; an absent key counts as 0, and only then the expiry is set. */
  incr(ns: string, key: string, delta: number, options: KvIncrOptions): Promise<KvWritten<number>>
  check<V = Untyped>(ns: string, key: string, options: KvCheckOptions): Promise<KvJudged<V>>
}

async function one(
  run: (operations: readonly KvOperation[]) => Promise<KvAnswer>,
  operation: KvOperation,
): Promise<KvResult | KvLost<unknown>> {
  const answer = await run([operation])
  if (!answer.ok)
    return lostAlone('key' in operation ? operation.key : '', answer.kvReason, answer.value, answer.version)
  const result = answer.results[0]
  if (result === undefined) throw new LockstepError('internal', 'the key/value call has no answer')
  return result
}

function isLost(result: KvResult | KvLost<unknown>): result is KvLost<unknown> {
  return !('op' in result)
}

export function kvClient(run: (operations: readonly KvOperation[]) => Promise<KvAnswer>): Kv {
  async function read<T>(operation: KvOperation, decode: (result: KvResult) => T): Promise<T> {
    const result = await one(run, operation)
    if (isLost(result)) throw new LockstepError('internal', 'a read was judged')
    return decode(result)
  }
  async function judge<T>(operation: KvOperation, decode: (result: KvResult) => T): Promise<T | KvLost<unknown>> {
    const result = await one(run, operation)
    return isLost(result) ? result : decode(result)
  }
  const kv = {
    get: async (ns: string, key: string) => read(getOperation(ns, key), entryOf),
    getMany: async (ns: string, keys: readonly string[]) => read(getManyOperation(ns, keys), manyOf),
    getPrefix: async (ns: string, prefix: string, options?: KvPrefixOptions) =>
      read(getPrefixOperation(ns, prefix, options), pageOf),
    put: async (ns: string, key: string, value: unknown, options: KvPutOptions) =>
      judge(putOperation(ns, key, value, options), writtenOf),
    putIfAbsent: async (ns: string, key: string, value: unknown, options: KvCreateOptions) =>
      judge(putIfAbsentOperation(ns, key, value, options), writtenOf),
    delete: async (ns: string, key: string, options?: KvGuard) => judge(deleteOperation(ns, key, options), judgedOf),
    incr: async (ns: string, key: string, delta: number, options: KvIncrOptions) =>
      judge(incrOperation(ns, key, delta, options), writtenOf),
    check: async (ns: string, key: string, options: KvCheckOptions) =>
      judge(checkOperation(ns, key, options), judgedOf),
  }
  // The value's type is the caller's word for what stands under his key: nothing at run time could know it.
  return kv as Kv
}
