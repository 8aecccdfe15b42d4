import Joi from 'joi'
import type { Clock } from '../runtime/clock.ts'
import { ApiError } from '../runtime/errors.ts'
import { succeed } from '../runtime/http.ts'
import { secretHash } from '../schemas/api-key.ts'
import type { Account, Operator, Store } from '../store/store.ts'
import type { AdminContext, AdminRoute } from './admin-route.ts'
import { readBody } from './body.ts'
import { NOBODYS_HASH, verifyPassword } from './password.ts'
import { readQuery } from './query.ts'
import {
  IDLE_MS,
  LONGEST_MS,
  newSessionToken,
  sessionToken,
  setSessionCookie,
} from './session-cookie.ts'
import { SignInThrottle } from './sign-in-throttle.ts'
import { Turns } from './turns.ts'

type SignedIn = { readonly operator: Operator; readonly account: Account }

/** Signing in and out, and who one is. */
export function sessionRoutes({ store, clock }: { store: Store; clock: Clock }): AdminRoute[] {
  const throttle = new SignInThrottle()
  // Each check takes a core for about a tenth of a second: sign-ins must not starve the rest.
  const turns = new Turns({ atOnce: 2, waiting: 50 })

  async function signIn(ctx: AdminContext): Promise<void> {
    readQuery(ctx, {})
    const { email, password } = await readBody<{ email: string; password: string }>(ctx, {
      email: text('email'),
      password: text('password'),
    })
    const signedIn = await throttle.attempt({ address: ctx.ip, email }, () =>
      turns.run(() => checkCredentials({ store, email, password })),
    )
    if (signedIn === undefined) {
      throw new ApiError('UNAUTHORIZED', 'the e-mail or the password is wrong')
    }
    await beginSession(ctx, signedIn)
    succeed(ctx, view(signedIn))
  }

  async function beginSession(ctx: AdminContext, { operator }: SignedIn): Promise<void> {
    const now = clock.now()
    await store.deleteSessions({ createdBefore: now - LONGEST_MS, seenBefore: now - IDLE_MS })
    const before = sessionToken(ctx)
    if (before !== undefined) await store.deleteSession(secretHash(before))
    const token = newSessionToken()
    await store.createSession({
      tokenHash: secretHash(token),
      operatorId: operator.id,
      createdAt: now,
      lastSeenAt: now,
    })
    setSessionCookie(ctx, token)
  }

  return [
    { method: 'POST', path: '/session', needs: 'nobody', handle: signIn },
    {
      method: 'GET',
      path: '/session',
      needs: 'session',
      async handle(ctx, caller) {
        readQuery(ctx, {})
        succeed(ctx, view(caller))
      },
    },
    {
      method: 'DELETE',
      path: '/session',
      needs: 'session',
      async handle(ctx, { tokenHash }) {
        readQuery(ctx, {})
        await store.deleteSession(tokenHash)
        setSessionCookie(ctx, undefined)
        succeed(ctx, null, { message: 'signed out' })
      },
    },
  ]
}

/** The same work whether the e-mail is known or not, so that the time tells nothing. */
async function checkCredentials({
  store,
  email,
  password,
}: {
  store: Store
  email: string
  password: string
}): Promise<SignedIn | undefined> {
  const operator = await store.findOperatorByEmail(email)
  const matches = await verifyPassword(password, operator?.passwordHash ?? NOBODYS_HASH)
  if (operator === undefined || !matches) return undefined
  const account = await store.findAccount(operator.accountId)
  return account === undefined || account.suspended ? undefined : { operator, account }
}

function view({ operator, account }: SignedIn) {
  const { id, email, role, platform } = operator
  return {
    operator: { id, email, role, platform },
    account: { id: account.id, name: account.name },
  }
}

function text(name: string): Joi.Schema {
  const expected = `${name} must be a text of 1 to 1024 characters`
  return Joi.string().max(1024).required().messages({ '*': expected })
}
