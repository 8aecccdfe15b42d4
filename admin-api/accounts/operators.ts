import { randomBytes } from 'node:crypto'
import { clientOf } from '../../runtime/http/client-address.ts'
import { succeed } from '../../runtime/http/http.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { Operator } from '../../store/operators.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../http/admin-route.ts'
import { pageOf, listById } from '../http/answer-page.ts'
import type { OperatorCaller } from '../http/caller.ts'
import { changeOperatorRoute } from './change-operator.ts'
import { emailRule, newPasswordRule } from '../sign-in/credential-rules.ts'
import { NEW_OPERATOR, OPERATOR, operatorView, roleRule } from './operator-view.ts'
import { generatePassword, hashPassword } from '../sign-in/password.ts'
import {
  emailTaken,
  kept,
  requireKnownOperator,
  requirePlatformFor,
  type AccountDependencies,
} from './operator-rights.ts'
import { PAGE_PARAMETERS } from '../http/query.ts'
import { flag, type InputOf } from '../http/rule.ts'
import { recordAction } from '../http/record-action.ts'

const CREATION = {
  email: emailRule('email').required(),
  password: newPasswordRule('password').nullIsAbsence(),
  role: roleRule.required(),
  platform: flag('platform').nullIsAbsence(),
}

/** The operators of an account and their roles. */
export function operatorRoutes({ store, clock, turns }: AccountDependencies): AdminRoute[] {
  async function create(
    ctx: AdminContext,
    caller: OperatorCaller,
    { body }: Input<object, InputOf<typeof CREATION>>,
  ): Promise<void> {
    const { email, role, platform } = body
    if (platform !== undefined) requirePlatformFor(caller, 'set platform')
    const isMade = body.password === undefined
    const password = body.password ?? generatePassword()
    const passwordHash = await turns.run(() => hashPassword(password), clientOf(ctx.ip))
    const createdAt = clock.now()
    const operator: Operator = {
      id: ulid(createdAt, randomBytes(10)),
      accountId: caller.accountId,
      email,
      role,
      platform: platform ?? false,
      passwordHash,
      signedIn: false,
      ...(isMade && { mustChangePassword: true }),
      createdAt,
    }
    if (!(await store.createOperator(operator))) throw emailTaken()
    const subject = { kind: 'operator', id: operator.id } as const
    const details = { email, role, platform: operator.platform }
    const action = { action: 'operator.created', subject, details }
    await recordAction(ctx, caller, action, { store, clock })
    const secret = isMade && { password }
    succeed(ctx, { ...operatorView(operator), ...secret }, { status: 201 })
  }

  async function remove(ctx: AdminContext, caller: OperatorCaller): Promise<void> {
    const query = { accountId: caller.accountId, operatorId: pathParameter(ctx, 'id') }
    const { email, platform } = requireKnownOperator(await store.findOperator(query))
    if (platform) requirePlatformFor(caller, 'remove an operator of the platform')
    const removed = requireKnownOperator(await store.deleteOperator(query))
    if (removed !== 'deleted') throw kept(removed)
    const subject = { kind: 'operator', id: query.operatorId } as const
    const action = { action: 'operator.deleted', subject, details: { email } }
    await recordAction(ctx, caller, action, { store, clock })
    succeed(ctx, null, { message: 'the operator is removed' })
  }

  return [
    route({
      method: 'GET',
      path: '/operators',
      summary: 'Lists the operators of the account, oldest first',
      needs: 'admin',
      query: PAGE_PARAMETERS,
      answer: { data: pageOf(OPERATOR) },
      handle: listById({
        name: 'operators',
        page: (query) => store.pageOperators(query),
        view: operatorView,
      }),
    }),
    route({
      method: 'POST',
      path: '/operators',
      summary: 'Creates an operator of the account',
      description:
        'An e-mail is unique in the whole service, case ignored. Without a password one is made, and ' +
        'shown in this answer only; the operator has to change it at the first sign-in. Only an ' +
        'operator of the platform sets `platform`.',
      needs: 'admin session',
      body: CREATION,
      bodyExample: { email: 'ben@example.org', role: 'viewer' },
      answer: { status: 201, data: NEW_OPERATOR },
      errors: ['CONFLICT'],
      handle: create,
    }),
    changeOperatorRoute({ store, clock, turns }),
    {
      method: 'DELETE',
      path: '/operators/:id',
      summary: 'Removes an operator; the sessions end',
      description: 'The last admin of an account and the last operator of the platform stay: 409.',
      needs: 'admin session',
      answer: {},
      errors: ['CONFLICT'],
      handle: remove,
    },
  ]
}
