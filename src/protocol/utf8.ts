// What text is on the wire: its length in bytes of UTF-8, and whether it has a UTF-8 form at all. Browser-safe, allocates nothing.

/** Bytes of UTF-8, or -1 when the text holds half a surrogate pair and so has no UTF-8 form. */
export function utf8Length(text: string): number {
  const length = text.length
  let bytes = length
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes += 1
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 2
    else {
      const low = unit < 0xdc00 && i + 1 < length ? text.charCodeAt(i + 1) : 0
      if (low < 0xdc00 || low > 0xdfff) return -1
      bytes += 2
      i += 1
    }
  }
  return bytes
}
