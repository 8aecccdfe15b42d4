import { isUtf8 } from 'node:buffer'
import { ApiError } from '../../runtime/errors.ts'
import { hasLongUnreadBody, toApiError, unavailable, type HttpContext } from '../../runtime/http.ts'
import { within } from '../../runtime/clock.ts'
import type { RejectionError } from '../../schemas/report-rejected.ts'
import type { ApiKey, KeyGrant } from '../../store/back-office.ts'
import type { Accept } from '../accept/accept.ts'
import type { Allowance } from '../accept/allowance.ts'
import { beyondKeyLimit } from '../accept/key-limit.ts'
import type { Outcome } from '../accept/outcome.ts'
import type { Offered } from '../accept/rejections.ts'
import { grantBehind } from '../keys/authenticate.ts'
import type { ReportState } from '../requests/endpoint.ts'
import { hold, overloaded, readBody } from '../requests/read-body.ts'
import { WAITS_MS, type Receiving } from './receive.ts'
import type { App, AppAnswer, AppHead } from '../apps/app.ts'
import type { AppRoute } from '../apps/app-routes.ts'
import { credentialsIn, withoutKey, type Credentials } from '../apps/credentials.ts'
import { fieldsIn } from '../apps/fields.ts'
import { submittedReports } from '../apps/submitted-reports.ts'

/** The part of a body that is read without a valid key. */
const UNKNOWN_BODY_BYTES = 16 * 1024
/** The memory that a point takes during its request; its bytes in the body may be a hundredth of it. */
const POINT_BYTES = 1024
/** Only an operator's change makes a retry succeed. */
const FORBIDDEN_SECONDS = 60
const SCOPE = 'positions:write'
const NO_BODY = Buffer.alloc(0)

type Context = HttpContext<ReportState>

/**
 * Handles one request of an app and returns the answer that the app needs.
 * @throws {ApiError} 401; any other error means that the app must resend the request.
 */
export type TakeApp = (ctx: Context, route: AppRoute) => Promise<AppAnswer>

/**
 * The steps shared by all apps. A report that can never be accepted gets the answer of an accepted one,
 * once its rejection is durable: these apps resend everything, in order, until they get a 2xx, so one
 * bad point would hold back all that follow.
 */
export function takeApps({
  keyCache,
  failures,
  usage,
  keyLimit,
  tally,
  load,
  clock,
  accept,
}: Receiving & { readonly accept: Accept }): TakeApp {
  return async function take(ctx, { app, parameters, keyInPath }) {
    const started = performance.now()
    const query = fieldsIn(ctx.querystring)
    const authorization = ctx.get('authorization')
    const credentials = credentialsIn({ authorization, path: keyInPath, query })
    const head: AppHead = {
      query: withoutKey(query),
      parameters,
      header: (name) => ctx.get(name),
      mediaType: ctx.request.type.toLowerCase(),
      literalBasic: credentials.literalBasic,
    }
    const grant = await grantOf(ctx, credentials, app)
    const { key } = grant
    await takeFirst(key, app)
    const withinMs = Math.max(0, WAITS_MS - (performance.now() - started))

    const chunks: Buffer[] = []
    const body = await bodyOf(ctx, { app, chunks })
    const began = performance.now()
    const left = () => Math.max(0, withinMs - (performance.now() - began))
    if (body instanceof ApiError) {
      const error = body.error === 'PAYLOAD_TOO_LARGE' ? body.error : 'INVALID_PARAMS'
      const { message } = body
      const refusal = { key, error, message, received: { chunks }, isAwaited: true } as const
      await durable([tally.refused(refusal, app.name)], left())
      return app.answer(head)
    }
    const said = app.read({ ...head, body })
    if (said.length > 1 && !hold(ctx, said.length * POINT_BYTES, load)) {
      tally.failed(overloaded(), { reports: 1, app: app.name })
      throw overloaded()
    }
    // Before the work, or concurrent requests would all be within the limit.
    const charge = await keyLimit.charge(key, said.length - 1)
    if (charge.exhausted !== undefined) throw exhausted(charge.exhausted, app)
    const reports = await submittedReports(said, { key, now: clock.now(), chunks })
    const options = { withinMs: left(), app: app.name }
    const { outcomes, rejections } = await accept(grant, reports, options).catch(
      async (error: unknown) => {
        await charge.giveBack()
        throw error
      },
    )
    throwIfPostponed(outcomes)
    await durable([...rejections], left())
    charge.owe()
    return app.answer(head)
  }

  /** The grant of a key that may report now. */
  async function grantOf(ctx: Context, credentials: Credentials, app: App): Promise<KeyGrant> {
    let grant: KeyGrant | undefined
    try {
      // The server asks this of requests with a body.
      if (ctx.method === 'GET' && load.isFull) throw overloaded()
      grant = await grantBehind(credentials.hash, ctx.ip, { keyCache, failures, clock })
      if (grant === undefined) throw unauthorized(credentials)
    } catch (error) {
      tally.failed(error, { reports: 1, app: app.name })
      if (hasLongUnreadBody(ctx.req, UNKNOWN_BODY_BYTES)) {
        ctx.state.headers.push('Connection', 'close')
      }
      throw error
    }
    const { key, accountSuspended } = grant
    if (!key.scopes.includes(SCOPE)) {
      throw refused(key, new ApiError('UNAUTHORIZED', `this API key lacks the scope ${SCOPE}`), app)
    }
    if (accountSuspended) {
      throw refused(key, later('FORBIDDEN', 'the account is suspended', FORBIDDEN_SECONDS), app)
    }
    usage.note(key.id, clock.now())
    return grant
  }

  /** Shows operators why a key's request was refused as a whole. */
  function refused(key: ApiKey, error: ApiError, app: App): ApiError {
    const { message } = error
    tally.refused({ key, error: 'FORBIDDEN', message, received: {} }, app.name)
    return error
  }

  /** Accepts the whole request while the key has any of its limit left. */
  async function takeFirst(key: ApiKey, app: App): Promise<void> {
    const allowance = await keyLimit.take(key, 1)
    if (allowance === undefined || allowance.over === 0) return
    throw exhausted(allowance, app)
  }

  function exhausted(allowance: Allowance, app: App): ApiError {
    tally.postponed('RATE_LIMITED', app.name)
    return later('RATE_LIMITED', beyondKeyLimit(allowance), allowance.resetSeconds)
  }

  /** The body, or the reason why it can never be accepted. */
  async function bodyOf(
    ctx: Context,
    { app: { limitBytes, name }, chunks }: { app: App; chunks: Buffer[] },
  ): Promise<Buffer | ApiError> {
    if (ctx.method === 'GET') return NO_BODY
    try {
      const body = await readBody(ctx, { limitBytes, chunks, load })
      return isUtf8(body) ? body : new ApiError('INVALID_PARAMS', 'the body must be UTF-8')
    } catch (thrown) {
      const error = toApiError(thrown)
      // An app that has disconnected sends it again.
      const isGone = ctx.req.destroyed && !ctx.req.complete
      if (error.status < 500 && !isGone) return error
      tally.failed(error.status < 500 ? CUT_OFF : error, { reports: 1, app: name })
      throw error
    }
  }
}

const CUT_OFF = unavailable('the request was cut off')

function unauthorized({ sent }: Credentials): ApiError {
  const challenge = sent ? 'Bearer realm="gps", error="invalid_token"' : 'Bearer realm="gps"'
  const message =
    'send a valid API key: as Bearer, as the password of Basic, or where this path has it in its URL'
  return new ApiError('UNAUTHORIZED', message, { headers: { 'WWW-Authenticate': challenge } })
}

/** @throws {ApiError} if one of the reports may be accepted later. */
function throwIfPostponed(outcomes: readonly Outcome[]): void {
  for (const outcome of outcomes) {
    if (outcome.kind !== 'refused' || !outcome.retriable) continue
    const { error, message, retryAfterSeconds = FORBIDDEN_SECONDS } = outcome
    throw later(error, message, retryAfterSeconds)
  }
}

/** @throws {ApiError} 503 if the rejections are not written in time. */
async function durable(rejections: readonly Offered[], withinMs: number): Promise<void> {
  if (rejections.length === 0) return
  const written = Promise.all(rejections.map((rejection) => rejection.written))
  const all = await within(withinMs, written, notWritten)
  if (!all.every(Boolean)) throw notWritten()
}

function notWritten(): ApiError {
  return unavailable('what is wrong with it could not be noted, please send it again')
}

/** The app gets a 503, whatever the reason. */
function later(reason: RejectionError, message: string, seconds: number): ApiError {
  return new ApiError(reason, message, { headers: { 'Retry-After': String(seconds) } })
}
