// Short forms of key/value operations for tests: everything in namespace `t`, for ever, unless the test says otherwise.
import type { Client } from 'pg'
import type { Door } from '../../src/db/executor.ts'
import type { KvAnswer, KvOperation, KvResult } from '../../src/protocol/kv.ts'

type Of<O> = Extract<KvOperation, { readonly op: O }>
type Put = Extract<KvOperation, { readonly value: string }>

export const get = (key: string, ns = 't'): KvOperation => ({ op: 'get', ns, key })

export const put = (key: string, value: string, more: Partial<Put> = {}): Put => ({
  op: 'put',
  ns: 't',
  key,
  value,
  ttlSeconds: null,
  expect: null,
  required: false,
  ...more,
})

export const remove = (key: string, more: Partial<Of<'delete'>> = {}): KvOperation => ({
  op: 'delete',
  ns: 't',
  key,
  expect: null,
  required: false,
  ...more,
})

export const incr = (key: string, delta: string, more: Partial<Of<'incr'>> = {}): KvOperation => ({
  op: 'incr',
  ns: 't',
  key,
  delta,
  min: null,
  max: null,
  ttlSeconds: null,
  required: false,
  ...more,
})

export const check = (key: string, expect: number, required = false): KvOperation => ({
  op: 'check',
  ns: 't',
  key,
  expect,
  required,
})

export const getMany = (...keys: string[]): KvOperation => ({ op: 'getMany', ns: 't', keys })

export const getPrefix = (prefix: string, more: Partial<Of<'getPrefix'>> = {}): KvOperation => ({
  op: 'getPrefix',
  ns: 't',
  prefix,
  limit: 100,
  after: null,
  keysOnly: false,
  ...more,
})

/** The results of a call that must have stood. */
export function resultsOf(answer: KvAnswer | undefined): readonly KvResult[] {
  if (answer?.ok !== true) throw new Error(`the call was rolled back: ${JSON.stringify(answer)}`)
  return answer.results
}

/** A driver's client as a door, as an adapter would make it. */
export const doorOf = (client: Client): Door => ({
  async text(statement, params) {
    const { rows } = await client.query<(string | null)[]>({ text: statement, values: [...params], rowMode: 'array' })
    return rows[0]?.[0] ?? null
  },
})
