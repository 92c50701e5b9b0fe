// The one named `any`: what queue(name) and kv.get give when nothing was declared, so that plain JavaScript examples
// compile under strict as they stand.

// What an undeclared queue or key holds is the caller's word alone.
// oxlint-disable-next-line typescript/no-explicit-any
export type Untyped = any
