import { ApiError } from '../../runtime/errors.ts'
import { insufficientScope } from '../../runtime/http/http-request.ts'
import type { Scope } from '../../store/keys.ts'
import { ROLES, type Role } from '../../store/operators.ts'
import type { Caller, OperatorCaller } from './caller.ts'

/**
 * The right that a caller needs: an operator at least this role, a key the scope `admin` or this
 * scope.
 */
type Needed = {
  readonly needs: Role
  readonly scope?: Scope
  /** Names the denied action in the error message; by default "this call". */
  readonly what?: string
}

/** The roles with at least this one's rights. */
export function rolesFrom(needed: Role): readonly Role[] {
  return ROLES.slice(ROLES.indexOf(needed))
}

/** @throws {ApiError} 403 unless the caller's role or scopes cover this. */
export function requireRight(caller: Caller, { needs, scope, what }: Needed): void {
  if (caller.kind === 'operator') return requireRole(caller, needs, what)
  const { scopes, deviceIds } = caller.key
  if (scope !== undefined && (scopes.includes('admin') || scopes.includes(scope))) return
  if (scopes.includes('admin')) {
    if (deviceIds === undefined) return
    // Older keys may be both admin and bound: for anything except reading, the list would not be
    // enforced.
    throw new ApiError('FORBIDDEN', 'this API key is bound to devices: it only reads them')
  }
  throw insufficientScope(scope ?? 'admin')
}

/** @throws {ApiError} 403 naming the roles that may. */
export function requireRole(
  { operator: { role } }: OperatorCaller,
  needed: Role,
  what = 'this call',
): void {
  const roles = rolesFrom(needed)
  if (roles.includes(role)) return
  throw new ApiError('FORBIDDEN', `${what} needs the role ${roles.join(' or ')}; yours is ${role}`)
}

/** An operator with a generated password must choose a new one before doing anything else. */
export function requireOwnPassword({ operator }: OperatorCaller, path: string): void {
  if (operator.mustChangePassword !== true || /^\/session(\/|$)/.test(path)) return
  const message = 'choose your own password first: POST /api/v1/session/password'
  throw new ApiError('FORBIDDEN', message)
}

export function requireOperator(caller: Caller): OperatorCaller {
  if (caller.kind === 'operator') return caller
  throw new ApiError('FORBIDDEN', 'this call is for operators who have signed in, not for keys')
}

export function requirePlatform({ operator }: OperatorCaller): void {
  if (operator.platform) return
  throw new ApiError('FORBIDDEN', 'this call is for operators of the platform')
}
