// Who may call what: the roles of a token against the access that a route's row names. What is not listed is refused; a token
// without a known role may call nothing but public routes.
import type { Access } from '../http/route.ts'

export const ROLES = ['admin', 'read-write', 'read-only', 'write-only'] as const
export type Role = (typeof ROLES)[number]

const MAY: Readonly<Record<Role, readonly Access[]>> = {
  admin: ['public', 'read-only', 'write-only', 'read-write', 'admin'],
  'read-write': ['public', 'read-only', 'write-only', 'read-write'],
  'read-only': ['public', 'read-only'],
  'write-only': ['public', 'write-only'],
}

export function mayCall(roles: readonly Role[], access: Access): boolean {
  return access === 'public' || roles.some((role) => MAY[role].includes(access))
}

export interface RoleRules {
  /** Of a claim that is one text. */
  readonly roleClaim: string
  /** Of a claim that is a list of texts. */
  readonly rolesClaim: string
  /** What the issuer calls each role. */
  readonly names: Readonly<Record<Role, string>>
}

/** The known roles among a token's claims; unknown names and other types give none. */
export function rolesOf(claims: Readonly<Record<string, unknown>>, rules: RoleRules): readonly Role[] {
  const named: unknown[] = []
  if (Object.hasOwn(claims, rules.roleClaim)) named.push(claims[rules.roleClaim])
  const list = Object.hasOwn(claims, rules.rolesClaim) ? claims[rules.rolesClaim] : null
  if (Array.isArray(list)) named.push(...list)
  return ROLES.filter((role) => named.includes(rules.names[role]))
}
