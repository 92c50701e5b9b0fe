// Who may pass: a route that is not public asks for a token whose roles allow it, before a byte of the body is read. Without
// authentication everybody passes and nobody has a name.
import type { IncomingMessage } from 'node:http'
import { LockstepError } from '../../protocol/errors.ts'
import type { Authenticator, Identity } from '../auth/authenticator.ts'
import { mayCall } from '../auth/roles.ts'
import type { Route } from './route.ts'

export interface Caller {
  readonly sub: string | null
}

const NOBODY: Caller = { sub: null }

export function admit(request: IncomingMessage, route: Route, auth: Authenticator | null): Caller | Promise<Caller> {
  if (auth === null || route.access === 'public') return NOBODY
  const identity = auth.identify(request.headers.authorization)
  return identity instanceof Promise ? identity.then((found) => demandRole(found, route)) : demandRole(identity, route)
}

function demandRole(identity: Identity, route: Route): Caller {
  if (mayCall(identity.roles, route.access)) return identity
  throw new LockstepError('forbidden', 'Insufficient permissions')
}
