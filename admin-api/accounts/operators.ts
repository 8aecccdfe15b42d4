import { randomBytes } from 'node:crypto'
import { clientOf } from '../../runtime/http/client-address.ts'
import { succeed } from '../../runtime/http/http.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import { type Operator, ROLES } from '../../store/operators.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
  type JsonSchema,
} from '../http/admin-route.ts'
import { pageOf } from '../http/answer-page.ts'
import { requireChange } from '../http/body.ts'
import type { OperatorCaller } from '../http/caller.ts'
import { emailRule, newPasswordRule, MUST_CHANGE_PASSWORD } from '../sign-in/credential-rules.ts'
import { generatePassword, hashPassword, verifyPassword } from '../sign-in/password.ts'
import {
  emailTaken,
  operatorKeptError,
  requireKnownOperator,
  requirePlatformFor,
  type AccountDependencies,
} from './operator-rights.ts'
import { flag, type InputOf, choice } from '../http/rule.ts'
import { searchedList, searchParameters } from '../http/searched-list.ts'
import { recordAction } from '../http/record-action.ts'
import { isoTime, TIME } from '../http/views.ts'

/** An operator as other operators see it, without the password. */
function operatorView(operator: Operator) {
  const { id, email, role, platform, mustChangePassword = false, createdAt } = operator
  return { id, email, role, platform, mustChangePassword, createdAt: isoTime(createdAt) }
}

const OPERATOR: JsonSchema = objectOf(
  {
    id: { type: 'string' },
    email: { type: 'string' },
    role: { enum: ROLES },
    platform: { type: 'boolean', description: 'May create and suspend accounts' },
    mustChangePassword: MUST_CHANGE_PASSWORD,
    createdAt: TIME,
  },
  { title: 'Operator' },
)

const NEW_OPERATOR: JsonSchema = {
  ...OPERATOR,
  title: 'OperatorWithPassword',
  properties: {
    ...(OPERATOR['properties'] as JsonSchema),
    password: { type: 'string', description: 'If one was generated; shown only in this response' },
  },
}

const roleRule = choice(ROLES, { expected: `role must be ${ROLES.join(' or ')}` })

const OPERATOR_PARAMETERS = {
  ...searchParameters('the e-mail', ['email', 'createdAt']),
  role: roleRule.described('Only operators with this role'),
}

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
    if (removed !== 'deleted') throw operatorKeptError(removed)
    const subject = { kind: 'operator', id: query.operatorId } as const
    const action = { action: 'operator.deleted', subject, details: { email } }
    await recordAction(ctx, caller, action, { store, clock })
    succeed(ctx, null, { message: 'the operator is removed' })
  }

  return [
    route({
      method: 'GET',
      path: '/operators',
      summary: 'Lists the operators of the account, oldest first unless sorted',
      needs: 'admin',
      query: OPERATOR_PARAMETERS,
      answer: { data: pageOf(OPERATOR) },
      handle: searchedList<Operator, Pick<InputOf<typeof OPERATOR_PARAMETERS>, 'role'>>({
        name: 'operators',
        page: (query) => store.pageOperators(query),
        find: ({ accountId, id }) => store.findOperator({ accountId, operatorId: id }),
        view: operatorView,
        textsOf: ({ email, id }) => [email, id],
        fits: (operator, { role }) => role === undefined || operator.role === role,
        sorts: { email: ({ email }) => email, createdAt: ({ createdAt }) => createdAt },
        usual: 'createdAt',
      }),
    }),
    route({
      method: 'POST',
      path: '/operators',
      summary: 'Creates an operator of the account',
      description:
        'An e-mail is unique in the whole service, case ignored. Without a password one is generated and ' +
        'returned only in this response; the operator must change it at the first sign-in. Only an ' +
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
      description:
        'The last admin of an account and the last platform operator cannot be removed: 409.',
      needs: 'admin session',
      answer: {},
      errors: ['CONFLICT'],
      handle: remove,
    },
  ]
}

const CHANGES = {
  role: roleRule,
  password: newPasswordRule('password'),
  platform: flag('platform'),
}

/** Changes an operator; new rights apply from the next request of a session. */
function changeOperatorRoute({ store, clock, turns }: AccountDependencies): AdminRoute {
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
    if (typeof operator === 'string') throw operatorKeptError(operator)
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
      'A new password ends all sessions of the operator; a generated one does not count as new. The last admin of an account and the ' +
      'last platform operator cannot lose their role: 409.',
    needs: 'admin session',
    body: CHANGES,
    bodyExample: { role: 'viewer' },
    answer: { data: OPERATOR },
    errors: ['CONFLICT'],
    handle: change,
  })
}

/** Undefined for the password generated for the operator, which must still be changed. */
async function hashIfNew(
  password: string,
  { mustChangePassword, passwordHash }: Operator,
): Promise<string | undefined> {
  const isMade = mustChangePassword === true && (await verifyPassword(password, passwordHash))
  return isMade ? undefined : hashPassword(password)
}
