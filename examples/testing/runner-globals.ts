// What vitest (with `globals: true`) and jest put into the global scope, as far as the examples use it. In a project of your
// own these come from `vitest/globals` or `@types/jest`, and this file is not there.
export interface Expectation {
  toBe(expected: unknown): void
  toEqual(expected: unknown): void
}

declare global {
  function describe(name: string, suite: () => void): void
  function beforeEach(prepare: () => Promise<void>): void
  function afterEach(end: () => Promise<void>): void
  function test(name: string, body: () => Promise<void>): void
  function expect(actual: unknown): Expectation
}
