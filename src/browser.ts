/// <reference lib="esnext.disposable" preserve="true" />
// The main entry under the condition `browser`: the same names; the way to PostgreSQL is a readable refusal there.
export { Lockstep } from './client/lockstep.ts'
export * from './client/public-names.ts'
