// One page of a list whose entries carry payloads: it may end before its limit, because bytes are bounded too, and then says so.

export interface Page<T> {
  readonly entries: readonly T[]
  /** The bytes ran out before the limit: the next page begins behind the last entry of this one. */
  readonly cut: boolean
}
