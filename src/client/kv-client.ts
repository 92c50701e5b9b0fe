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

type Run = (operations: readonly KvOperation[]) => Promise<KvAnswer>

/** The one answer to one operation, or what a required one lost against. */
async function ask(run: Run, operation: KvOperation): Promise<KvResult | KvLost<Untyped>> {
  const answer = await run([operation])
  if (!answer.ok) {
    return lostAlone('key' in operation ? operation.key : '', answer.kvReason, answer.value, answer.version)
  }
  const result = answer.results[0]
  if (result === undefined) throw new LockstepError('internal', 'the key/value call has no answer')
  return result
}

async function read<T>(run: Run, operation: KvOperation, decode: (result: KvResult) => T): Promise<T> {
  const result = await ask(run, operation)
  if (!('op' in result)) throw new LockstepError('internal', 'a read was judged')
  return decode(result)
}

async function write<T>(
  run: Run,
  operation: KvOperation,
  decode: (result: KvResult) => T,
): Promise<T | KvLost<Untyped>> {
  const result = await ask(run, operation)
  return 'op' in result ? decode(result) : result
}

export function kvClient(run: Run): Kv {
  return {
    get: async (ns, key) => read(run, getOperation(ns, key), entryOf),
    getMany: async (ns, keys) => read(run, getManyOperation(ns, keys), manyOf),
    getPrefix: async (ns, prefix, options) => read(run, getPrefixOperation(ns, prefix, options), pageOf),
    put: async (ns, key, value, options) => write(run, putOperation(ns, key, value, options), writtenOf),
    putIfAbsent: async (ns, key, value, options) =>
      write(run, putIfAbsentOperation(ns, key, value, options), writtenOf),
    delete: async (ns, key, options) => write(run, deleteOperation(ns, key, options), judgedOf),
    incr: async (ns, key, delta, options) => write(run, incrOperation(ns, key, delta, options), writtenOf),
    check: async (ns, key, options) => write(run, checkOperation(ns, key, options), judgedOf),
  }
}
