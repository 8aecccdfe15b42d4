import { clientOf } from '../../runtime/http/client-address.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http/http.ts'
import { secretHash } from '../../schemas/access/api-key.ts'
import { ROLES, type Account, type Operator, type Session } from '../../store/operators.ts'
import type { Store } from '../../store/store.ts'
import {
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
  type JsonSchema,
} from '../http/admin-route.ts'
import type { OperatorCaller } from '../http/caller.ts'
import { MUST_CHANGE_PASSWORD, typedRule } from './credential-rules.ts'
import { NOBODYS_HASH, verifyPassword, type PasswordTurns } from './password.ts'
import type { InputOf } from '../http/rule.ts'
import { isoTime, TIME } from '../http/views.ts'
import { recordAction } from '../http/record-action.ts'
import {
  newSessionToken,
  sessionEnds,
  sessionToken,
  setSessionCookie,
} from '../http/session-cookie.ts'
import { changePasswordRoute } from './session-password.ts'
import { SignInThrottle } from './sign-in-throttle.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'

const CREDENTIALS = {
  email: typedRule('email').required(),
  password: typedRule('password').required(),
}

const SIGNED_IN: JsonSchema = objectOf(
  {
    operator: objectOf({
      id: { type: 'string' },
      email: { type: 'string' },
      role: { enum: ROLES },
      platform: { type: 'boolean' },
      mustChangePassword: MUST_CHANGE_PASSWORD,
    }),
    account: objectOf({ id: { type: 'string' }, name: { type: 'string' } }),
    idleEndsAt: { ...TIME, description: 'When the session ends if no other request uses it' },
    endsAt: { ...TIME, description: 'Absolute expiry, regardless of activity' },
  },
  { title: 'SignedIn' },
)

type SignedIn = { readonly operator: Operator; readonly account: Account }

/**
 * Signing in and out, and the operator's own profile and password. `turns` limits all password
 * work.
 */
export function sessionRoutes({
  store,
  clock,
  turns,
  basePath,
  lateAnswersAfterMs: answersAfterMs,
}: {
  store: Store
  clock: Clock
  turns: PasswordTurns
  lateAnswersAfterMs?: number | undefined
  /** The path under which browsers reach the API, with a slash at both ends. */
  basePath: string
}): AdminRoute[] {
  const throttle = new SignInThrottle({ turns, answersAfterMs })

  async function signIn(
    ctx: AdminContext,
    { body: { email, password } }: Input<object, InputOf<typeof CREDENTIALS>>,
  ): Promise<void> {
    requireSameOrigin(ctx)
    const client = clientOf(ctx.ip)
    const operator = await store.findOperatorByEmail(email)
    const who = { client, email, isKnown: operator !== undefined }
    const signedIn = await throttle.attempt(who, (maySucceed) =>
      checkCredentials({ store, operator: maySucceed ? operator : undefined, password }),
    )
    const begun = signedIn && (await beginSession(ctx, signedIn))
    if (begun === undefined) {
      throw new ApiError('UNAUTHORIZED', 'the e-mail or the password is wrong')
    }
    const { caller, token } = begun
    const subject = { kind: 'operator', id: caller.operator.id } as const
    await recordAction(ctx, caller, { action: 'session.created', subject }, { store, clock })
    setSessionCookie(ctx, token, basePath)
    succeed(ctx, view(caller))
  }

  async function beginSession(
    ctx: AdminContext,
    { operator }: SignedIn,
  ): Promise<{ caller: OperatorCaller; token: string } | undefined> {
    const now = clock.now()
    const before = sessionToken(ctx)
    if (before !== undefined) await store.deleteSession(secretHash(before))
    const token = newSessionToken()
    const tokenHash = secretHash(token)
    await store.createSession({
      tokenHash,
      operatorId: operator.id,
      createdAt: now,
      lastSeenAt: now,
    })
    // Changing the password ends existing sessions, but would miss one just created with the old
    // password.
    const begun = await store.findSession(tokenHash)
    if (begun?.operator.passwordHash === operator.passwordHash) {
      const { account, session } = begun
      const accountId = account.id
      return { caller: { kind: 'operator', accountId, operator, account, session }, token }
    }
    await store.deleteSession(tokenHash)
    return undefined
  }

  return [
    route({
      method: 'POST',
      path: '/session',
      summary: 'Signs in',
      needs: 'nobody',
      body: CREDENTIALS,
      bodyExample: { email: 'ana@example.org', password: 'correct horse battery staple' },
      answer: { data: SIGNED_IN },
      errors: ['UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMITED'],
      handle: signIn,
    }),
    {
      method: 'GET',
      path: '/session',
      summary: 'Returns the signed-in operator and the end of the session',
      description:
        'Counts as use of the session, like any request but an open stream. A use within ' +
        'a minute of the previous one changes nothing.',
      needs: 'session',
      answer: { data: SIGNED_IN },
      async handle(ctx, caller) {
        succeed(ctx, view(caller))
      },
    },
    {
      method: 'DELETE',
      path: '/session',
      summary: 'Signs out',
      needs: 'session',
      answer: {},
      async handle(ctx, { session }) {
        await store.deleteSession(session.tokenHash)
        setSessionCookie(ctx, undefined, basePath)
        succeed(ctx, null, { message: 'signed out' })
      },
    },
    changePasswordRoute({ store, clock, throttle }),
  ]
}

/**
 * Browsers report how the page relates to this origin; a page in CORS_ORIGINS must not gain a
 * session.
 */
function requireSameOrigin(ctx: AdminContext): void {
  if (!['cross-site', 'same-site'].includes(ctx.get('sec-fetch-site'))) return
  throw new ApiError('FORBIDDEN', 'sign in on the page of the console; other pages send a key')
}

/** Does the same work whether or not the e-mail is known, so that timing reveals nothing. */
async function checkCredentials({
  store,
  operator,
  password,
}: {
  store: Store
  operator: Operator | undefined
  password: string
}): Promise<SignedIn | undefined> {
  const matches = await verifyPassword(password, operator?.passwordHash ?? NOBODYS_HASH)
  if (operator === undefined || !matches) return undefined
  const account = await store.findAccount(operator.accountId)
  return account === undefined || account.suspended ? undefined : { operator, account }
}

function view({ operator, account, session }: SignedIn & { readonly session: Session }) {
  const { id, email, role, platform, mustChangePassword = false } = operator
  const { idleEndsAt, endsAt } = sessionEnds(session)
  return {
    operator: { id, email, role, platform, mustChangePassword },
    account: { id: account.id, name: account.name },
    idleEndsAt: isoTime(idleEndsAt),
    endsAt: isoTime(endsAt),
  }
}
