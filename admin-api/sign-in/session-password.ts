import { clientOf } from '../../runtime/http/client-address.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError, invalidParams } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import type { Store } from '../../store/store.ts'
import { route, type AdminContext, type AdminRoute, type Input } from '../http/admin-route.ts'
import type { OperatorCaller } from '../http/caller.ts'
import { newPasswordRule, typedRule } from './credential-rules.ts'
import { areSamePassword, hashPassword, NOBODYS_HASH, verifyPassword } from './password.ts'
import type { InputOf } from '../http/rule.ts'
import { recordAction } from '../http/record-action.ts'
import type { SignInThrottle } from './sign-in-throttle.ts'

const PASSWORDS = {
  current: typedRule('current').required(),
  next: newPasswordRule('next').required(),
}

type Passwords = InputOf<typeof PASSWORDS>

/**
 * Changes the caller's own password. Wrong guesses at the current one count as failed sign-ins, so
 * an unattended session does not bypass their limit.
 */
export function changePasswordRoute({
  store,
  clock,
  throttle,
}: {
  store: Store
  clock: Clock
  throttle: SignInThrottle
}): AdminRoute {
  async function change(
    ctx: AdminContext,
    caller: OperatorCaller,
    { body }: Input<object, Passwords>,
  ): Promise<void> {
    if (areSamePassword(body.next, body.current)) {
      throw invalidParams([{ field: 'next', message: 'next must differ from current' }])
    }
    const { operator, accountId, session } = caller
    const client = clientOf(ctx.ip)
    const who = { client, email: operator.email, isKnown: true }
    const passwordHash = await throttle.attempt(who, (maySucceed) =>
      hashIfCurrent(caller, body, maySucceed),
    )
    // Not a 401: the session is valid, and a console would ask the user to sign in again.
    if (passwordHash === undefined) {
      throw invalidParams([{ field: 'current', message: 'current must be your current password' }])
    }
    const operatorId = operator.id
    const changed = await store.changeOperator({ accountId, operatorId, passwordHash })
    if (changed === undefined) throw new ApiError('UNAUTHORIZED', 'the operator has been removed')
    await store.endSessions({ operatorId, except: session.tokenHash })
    const subject = { kind: 'operator', id: operatorId } as const
    const action = { action: 'operator.password-changed', subject }
    await recordAction(ctx, caller, action, { store, clock })
    succeed(ctx, null, { message: 'the password is changed' })
  }

  async function hashIfCurrent(
    { operator, session }: OperatorCaller,
    { current, next }: Passwords,
    maySucceed: boolean,
  ): Promise<string | undefined> {
    const isCurrent = await verifyPassword(
      current,
      maySucceed ? operator.passwordHash : NOBODYS_HASH,
    )
    if (!isCurrent) return undefined
    const passwordHash = await hashPassword(next)
    // Waiting and hashing take time, in which an admin may have set another password.
    const now = await store.findSession(session.tokenHash)
    return now?.operator.passwordHash === operator.passwordHash ? passwordHash : undefined
  }

  return route({
    method: 'POST',
    path: '/session/password',
    summary: 'Changes the caller’s own password; other sessions end',
    description: '`next` must differ from `current`: 400.',
    needs: 'session',
    body: PASSWORDS,
    bodyExample: { current: 'the one so far', next: 'correct horse battery staple' },
    answer: {},
    errors: ['RATE_LIMITED'],
    handle: change,
  })
}
