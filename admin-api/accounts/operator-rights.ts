import { ApiError } from '../../runtime/errors.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { OperatorKept } from '../../store/operators.ts'
import type { Store } from '../../store/store.ts'
import type { OperatorCaller } from '../http/caller.ts'
import type { PasswordTurns } from '../sign-in/password.ts'

/** The dependencies of the calls on accounts and operators. `turns` limits all password work. */
export type AccountDependencies = {
  readonly store: Store
  readonly clock: Clock
  readonly turns: PasswordTurns
}

/**
 * Only platform operators may create a platform operator or set such an operator's password:
 * otherwise the admin of one account could take over all accounts.
 *
 * @throws {ApiError} 403 saying what the caller may not do.
 */
export function requirePlatformFor({ operator }: OperatorCaller, action: string): void {
  if (operator.platform) return
  throw new ApiError('FORBIDDEN', `only an operator of the platform may ${action}`)
}

/** @throws {ApiError} 404 if the account has no such operator. */
export function requireKnownOperator<Found>(operator: Found | undefined): Found {
  if (operator === undefined) throw new ApiError('NOT_FOUND', 'there is no operator with this id')
  return operator
}

/** The error if the e-mail belongs to an operator of any account. */
export function emailTaken(): ApiError {
  return new ApiError('CONFLICT', 'this e-mail address is already in use: send another one')
}

/** The error if an operator must not be changed. */
export function operatorKeptError(why: OperatorKept): ApiError {
  const left = why === 'last admin' ? 'the account without an admin' : 'the platform without one'
  return new ApiError('CONFLICT', `this would leave ${left}: give somebody else that right first`)
}
