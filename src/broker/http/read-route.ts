// The row of a route that only reads, for people and dashboards: one answer, read-only access.
import type { Route } from './route.ts'

export const readRoute = (
  path: string,
  about: string,
  answer: string,
  handle: Route['handle'],
  query?: Route['query'],
): Route => ({
  method: 'GET',
  path,
  access: 'read-only',
  rank: 'B',
  changes: false,
  about,
  ...(query === undefined ? {} : { query }),
  answers: { 200: answer },
  handle,
})
