// Key/value operations and answers. Values are JSON text; versions rise per key for ever and are below 2^53.

/** `ttlSeconds` null means forever; it is required by put, putIfAbsent and incr at the door. */
export type KvOperation =
  | { readonly op: 'get'; readonly ns: string; readonly key: string }
  | { readonly op: 'getMany'; readonly ns: string; readonly keys: readonly string[] }
  | {
      readonly op: 'getPrefix'
      readonly ns: string
      readonly prefix: string
      readonly limit: number
      readonly after: string | null
      readonly keysOnly: boolean
    }
  | {
      readonly op: 'put' | 'putIfAbsent'
      readonly ns: string
      readonly key: string
      readonly value: string
      readonly ttlSeconds: number | null
      readonly expect: number | null
      readonly required: boolean
    }
  | {
      readonly op: 'delete'
      readonly ns: string
      readonly key: string
      readonly expect: number | null
      readonly required: boolean
    }
  | {
      readonly op: 'incr'
      readonly ns: string
      readonly key: string
      readonly delta: string
      readonly min: string | null
      readonly max: string | null
      readonly ttlSeconds: number | null
      readonly required: boolean
    }
  | {
      readonly op: 'check'
      readonly ns: string
      readonly key: string
      readonly expect: number
      readonly required: boolean
    }

export interface KvRow {
  readonly key: string
  /** JSON text; null when only keys were asked for. */
  readonly value: string | null
  readonly version: number
  readonly expiresAt: string | null
  readonly updatedAt: string
}

export type KvLoss = 'exists' | 'absent' | 'version' | 'limit' | 'type'

export type KvResult =
  | { readonly op: 'get'; readonly found: true; readonly row: KvRow }
  | { readonly op: 'get'; readonly found: false; readonly key: string }
  | {
      readonly op: 'getMany'
      readonly rows: readonly KvRow[]
      readonly missing: readonly string[]
      readonly truncated: boolean
    }
  | {
      readonly op: 'getPrefix'
      readonly rows: readonly KvRow[]
      readonly truncated: boolean
      readonly nextAfter: string | null
    }
  | {
      readonly op: 'put' | 'putIfAbsent' | 'delete' | 'incr' | 'check'
      readonly applied: boolean
      readonly key: string
      /** After the call when applied, the current one when lost; null for a deleted or absent row and for a held check. */
      readonly value: string | null
      readonly version: number | null
      readonly reason: KvLoss | null
    }

/** All operations of a call, or the required one that lost and rolled everything back. */
export type KvAnswer =
  | { readonly ok: true; readonly results: readonly KvResult[] }
  | {
      readonly ok: false
      readonly reason: 'kv_precondition'
      readonly failedIndex: number
      readonly kvReason: KvLoss
      readonly value: string | null
      readonly version: number | null
    }
