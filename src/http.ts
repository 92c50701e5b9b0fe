/// <reference lib="esnext.disposable" preserve="true" />
// The entry `./http`: the client through a broker only, naming no Node module, for edge run-times and plain bundlers.
export { Lockstep } from './client/lockstep-http.ts'
export * from './client/public-names.ts'
