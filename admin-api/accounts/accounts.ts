import { randomBytes } from 'node:crypto'
import { clientOf } from '../../runtime/http/client-address.ts'
import { ApiError } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import { type Account, type Operator, ROLES } from '../../store/operators.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
  type JsonSchema,
} from '../http/admin-route.ts'
import { pageOf, listById } from '../http/answer-page.ts'
import type { OperatorCaller } from '../http/caller.ts'
import { emailRule, newPasswordRule } from '../sign-in/credential-rules.ts'
import { emailTaken, type AccountDependencies } from './operator-rights.ts'
import { hashPassword } from '../sign-in/password.ts'
import { PAGE_PARAMETERS } from '../http/query.ts'
import { recordAction } from '../http/record-action.ts'
import { nameRule } from '../http/name-rule.ts'
import { flag, object, type InputOf } from '../http/rule.ts'
import { isoTime, TIME } from '../http/views.ts'

const NEW_ACCOUNT = {
  name: nameRule('name').required(),
  admin: object(
    {
      email: emailRule('admin.email').required(),
      password: newPasswordRule('admin.password').required(),
    },
    { expected: 'admin must be an object with email and password, and nothing else' },
  ).required(),
}

const SUSPENSION = { suspended: flag('suspended').required() }

/** Account management. */
export function accountRoutes({ store, clock, turns }: AccountDependencies): AdminRoute[] {
  async function create(
    ctx: AdminContext,
    caller: OperatorCaller,
    { body: { name, admin } }: Input<object, InputOf<typeof NEW_ACCOUNT>>,
  ): Promise<void> {
    const passwordHash = await turns.run(() => hashPassword(admin.password), clientOf(ctx.ip))
    const createdAt = clock.now()
    const account: Account = {
      id: ulid(createdAt, randomBytes(10)),
      name,
      suspended: false,
      createdAt,
    }
    const operator: Operator = {
      id: ulid(createdAt, randomBytes(10)),
      accountId: account.id,
      email: admin.email,
      role: 'admin',
      platform: false,
      passwordHash,
      signedIn: false,
      createdAt,
    }
    if (!(await store.createAccount(account, operator))) throw emailTaken()
    const { id, email, role } = operator
    const details = { name, admin: { id, email } }
    await recordOfAccount(ctx, caller, { action: 'account.created', id: account.id, details })
    succeed(ctx, { ...accountView(account), admin: { id, email, role } }, { status: 201 })
  }

  async function suspend(
    ctx: AdminContext,
    caller: OperatorCaller,
    { body: { suspended } }: Input<object, InputOf<typeof SUSPENSION>>,
  ): Promise<void> {
    const accountId = pathParameter(ctx, 'id')
    const before = requireAccount(await store.findAccount(accountId))
    if (suspended && accountId === caller.accountId) {
      throw new ApiError(
        'CONFLICT',
        'you would lock yourself out of your own account: ask another operator',
      )
    }
    const change = { accountId, suspended, resumedAt: clock.now() }
    const account = requireAccount(await store.suspendAccount(change))
    if (before.suspended !== suspended) {
      const action = suspended ? 'account.suspended' : 'account.resumed'
      await recordOfAccount(ctx, caller, {
        action,
        id: account.id,
        details: { name: account.name },
      })
    }
    succeed(ctx, accountView(account))
  }

  /** Recorded twice: in the account's audit and in the platform's. */
  async function recordOfAccount(
    ctx: AdminContext,
    caller: OperatorCaller,
    { id, ...action }: { action: string; id: string; details: Readonly<Record<string, unknown>> },
  ): Promise<void> {
    const subject = { kind: 'account', id } as const
    const accountIds = [...new Set([id, caller.accountId])]
    await Promise.all(
      accountIds.map((accountId) =>
        recordAction(ctx, caller, { ...action, subject, accountId }, { store, clock }),
      ),
    )
  }

  return [
    route({
      method: 'GET',
      path: '/accounts',
      summary: 'Lists the accounts of the service, oldest first',
      needs: 'platform',
      query: PAGE_PARAMETERS,
      answer: { data: pageOf(ACCOUNT) },
      handle: listById({
        name: 'accounts',
        page: (query) => store.pageAccounts(query),
        view: accountView,
      }),
    }),
    route({
      method: 'POST',
      path: '/accounts',
      summary: 'Creates an account and its first admin',
      needs: 'platform',
      body: NEW_ACCOUNT,
      bodyExample: {
        name: 'Ferries',
        admin: { email: 'ana@example.org', password: 'correct horse battery' },
      },
      answer: { status: 201, data: ACCOUNT_WITH_ADMIN },
      errors: ['CONFLICT'],
      handle: create,
    }),
    route({
      method: 'PATCH',
      path: '/accounts/:id',
      summary: 'Suspends or reinstates an account',
      description:
        'The keys and operators of a suspended account are rejected within 5 s; its data remains. ' +
        'Operators cannot suspend their own account: 409.',
      needs: 'platform',
      body: SUSPENSION,
      bodyExample: { suspended: true },
      answer: { data: ACCOUNT },
      errors: ['CONFLICT'],
      handle: suspend,
    }),
  ]
}

function requireAccount(account: Account | undefined): Account {
  if (account === undefined) throw new ApiError('NOT_FOUND', 'there is no account with this id')
  return account
}

/** An account as platform operators see it. */
function accountView({ id, name, suspended, createdAt }: Account) {
  return { id, name, suspended, createdAt: isoTime(createdAt) }
}

const PROPERTIES = {
  id: { type: 'string' },
  name: { type: 'string' },
  suspended: { type: 'boolean' },
  createdAt: TIME,
}

const ACCOUNT: JsonSchema = objectOf(PROPERTIES, { title: 'Account' })

const ACCOUNT_WITH_ADMIN: JsonSchema = objectOf(
  {
    ...PROPERTIES,
    admin: objectOf({ id: { type: 'string' }, email: { type: 'string' }, role: { enum: ROLES } }),
  },
  { title: 'AccountWithAdmin' },
)
