/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `lockstep/broker`: one function that makes a broker, and what it takes and gives.
export type { AuthOptions } from './auth/auth-options.ts'
export type { Role } from './auth/roles.ts'
export { createBroker } from './create-broker.ts'
export type { Broker, BrokerOptions } from './create-broker.ts'
export { jsonLogger } from './logger.ts'
export type { LogFields, Logger } from './logger.ts'
export { runBroker, stopOnSignal } from './run-broker.ts'
export type { RunOptions } from './run-broker.ts'
export type { TlsOptions } from './tls.ts'
