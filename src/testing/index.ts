/// <reference lib="esnext.disposable" preserve="true" />
// `lockstep/testing`: what a project's own tests of its actions and workflows need, with node:test, vitest and jest alike.
export { createTestEnvironment, type TestEnvironment, type TestEnvironmentOptions } from './create-test-environment.ts'
export type { SpiedCall, Spy, SpyOptions } from './spies.ts'
