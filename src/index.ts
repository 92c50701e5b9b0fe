/// <reference lib="esnext.disposable" preserve="true" />
// The package's main entry: the client over both ways, declared queues, and what its answers are made of.
export { Lockstep } from './client/lockstep.ts'
export * from './client/public-names.ts'
