// The one named `any`: what queue(name) and kv.get give when nothing was declared, so that plain JavaScript examples
// compile under strict as they stand.

// oxlint-disable-next-line typescript/no-explicit-any
export type Untyped = any
