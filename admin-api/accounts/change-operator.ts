import { clientOf } from '../../runtime/http/client-address.ts'
import { succeed } from '../../runtime/http/http.ts'
import type { Operator } from '../../store/operators.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../http/admin-route.ts'
import type { OperatorCaller } from '../http/caller.ts'
import { newPasswordRule } from '../sign-in/credential-rules.ts'
import {
  kept,
  requireKnownOperator,
  requirePlatformFor,
  type AccountDependencies,
} from './operator-rights.ts'
import { OPERATOR, operatorView, roleRule } from './operator-view.ts'
import { hashPassword, verifyPassword } from '../sign-in/password.ts'
import { recordAction } from '../http/record-action.ts'
import { flag, type InputOf } from '../http/rule.ts'
import { requireChange } from '../http/body.ts'

const CHANGES = {
  role: roleRule,
  password: newPasswordRule('password'),
  platform: flag('platform'),
}

/** Changes an operator; new rights apply from the next request of a session. */
export function changeOperatorRoute({ store, clock, turns }: AccountDependencies): AdminRoute {
  async function change(
    ctx: AdminContext,
    caller: OperatorCaller,
    { body: change }: Input<object, InputOf<typeof CHANGES>>,
  ): Promise<void> {
    requireChange(change, CHANGES)
    const query = { accountId: caller.accountId, operatorId: pathParameter(ctx, 'id') }
    const before = requireKnownOperator(await store.findOperator(query))
    if (change.platform !== undefined) requirePlatformFor(caller, 'set platform')
    if (before.platform) requirePlatformFor(caller, 'change an operator of the platform')
    const { password, ...rights } = change
    const { role = before.role, platform = before.platform } = rights
    const passwordHash =
      password === undefined
        ? undefined
        : await turns.run(() => hashIfNew(password, before), clientOf(ctx.ip))
    if (passwordHash === undefined && role === before.role && platform === before.platform) {
      return succeed(ctx, operatorView(before))
    }
    const operator = requireKnownOperator(
      await store.changeOperator({
        ...query,
        ...rights,
        ...(passwordHash !== undefined && { passwordHash }),
      }),
    )
    if (typeof operator === 'string') throw kept(operator)
    if (passwordHash !== undefined) await store.endSessions({ operatorId: operator.id })
    const subject = { kind: 'operator', id: operator.id } as const
    const details = { ...rights, ...(passwordHash !== undefined && { passwordChanged: true }) }
    const action = { action: 'operator.changed', subject, details }
    await recordAction(ctx, caller, action, { store, clock })
    succeed(ctx, operatorView(operator))
  }

  return route({
    method: 'PATCH',
    path: '/operators/:id',
    summary: 'Changes the role, the password or the platform right of an operator',
    description:
      'A new password ends all sessions of the operator; one that was made is not new. The last admin of an account and the ' +
      'last operator of the platform stay what they are: 409.',
    needs: 'admin session',
    body: CHANGES,
    bodyExample: { role: 'viewer' },
    answer: { data: OPERATOR },
    errors: ['CONFLICT'],
    handle: change,
  })
}

/** Undefined for the password that was made for the operator: it must still be changed. */
async function hashIfNew(
  password: string,
  { mustChangePassword, passwordHash }: Operator,
): Promise<string | undefined> {
  const isMade = mustChangePassword === true && (await verifyPassword(password, passwordHash))
  return isMade ? undefined : hashPassword(password)
}
