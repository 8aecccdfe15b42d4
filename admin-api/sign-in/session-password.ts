import type { Clock } from '../../runtime/clock.ts'
import { invalidParams } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http.ts'
import type { Store } from '../../store/store.ts'
import type { AdminContext, AdminRoute, Input } from '../http/admin-route.ts'
import type { OperatorCaller } from '../http/caller.ts'
import { newPasswordRule, typedRule } from './credential-rules.ts'
import { requireKnownOperator } from '../accounts/operator-rights.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { recordAction } from '../http/record-action.ts'
import type { SignInThrottle } from './sign-in-throttle.ts'
import type { Turns } from './turns.ts'

type Passwords = { readonly current: string; readonly next: string }

const PASSWORDS = {
  current: typedRule('current').required(),
  next: newPasswordRule('next').required(),
}

/**
 * Changing one's own password. Guesses at the current one count as failed sign-ins, so that a session
 * left open is no way around their limit.
 */
export function changePasswordRoute({
  store,
  clock,
  turns,
  throttle,
}: {
  store: Store
  clock: Clock
  turns: Turns
  throttle: SignInThrottle
}): AdminRoute {
  async function change(
    ctx: AdminContext,
    caller: OperatorCaller,
    { body }: Input<object, Passwords>,
  ): Promise<void> {
    const { operator, accountId, tokenHash } = caller
    const passwordHash = await throttle.attempt({ address: ctx.ip, email: operator.email }, () =>
      turns.run(() => hashIfCurrent(caller, body)),
    )
    // Not a 401: the session is good, and a console that is told otherwise asks to sign in again.
    if (passwordHash === undefined) {
      throw invalidParams([{ field: 'current', message: 'current must be the password until now' }])
    }
    const operatorId = operator.id
    requireKnownOperator(await store.changeOperator({ accountId, operatorId, passwordHash }))
    await store.endSessions({ operatorId, except: tokenHash })
    const subject = { kind: 'operator', id: operatorId } as const
    const action = { action: 'operator.password-changed', subject }
    await recordAction(ctx, caller, action, { store, clock })
    succeed(ctx, null, { message: 'the password is changed' })
  }

  async function hashIfCurrent(
    { operator, tokenHash }: OperatorCaller,
    { current, next }: Passwords,
  ): Promise<string | undefined> {
    if (!(await verifyPassword(current, operator.passwordHash))) return undefined
    const passwordHash = await hashPassword(next)
    // Hashing and waiting for it take time, in which an admin may have set another password.
    const now = await store.findSession(tokenHash)
    return now?.operator.passwordHash === operator.passwordHash ? passwordHash : undefined
  }

  return {
    method: 'POST',
    path: '/session/password',
    summary: 'Changes one’s own password; the other sessions end',
    needs: 'session',
    body: PASSWORDS,
    answer: {},
    errors: ['RATE_LIMITED'],
    handle: change,
  }
}
