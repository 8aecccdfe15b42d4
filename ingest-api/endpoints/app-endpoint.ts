import { isUtf8 } from 'node:buffer'
import { skipByteOrderMark, bearerToken } from '../../runtime/http/http-request.ts'
import { ApiError, retryAfterSeconds, toApiError, unavailable } from '../../runtime/errors.ts'
import { awaitUntil, type Clock } from '../../runtime/clock.ts'
import type { Accept } from '../accept/accept.ts'
import type { KeyLimit } from '../accept/limits.ts'
import { refusalOf, type Outcome } from '../accept/outcome.ts'
import type { Offered } from '../accept/rejections.ts'
import type { ReportMetrics } from '../accept/report-metrics.ts'
import { EMPTY, type SenderApp } from '../apps/sender-apps.ts'
import type { AppHead } from '../../schemas/formats/senders/app-request.ts'
import type { AppRoute } from '../apps/app-routes.ts'
import { parseFields, type Fields } from '../../schemas/formats/senders/fields.ts'
import { toReports } from '../apps/submitted-reports.ts'
import type { RejectUnplaced } from '../apps/unplaced-devices.ts'
import { readBody } from '../admission/body.ts'
import {
  headerOf,
  mediaTypeOf,
  overloadedError,
  type SenderRequest,
} from '../admission/sender-request.ts'
import { hasTooManyParts, type WorkTurns } from '../admission/work-turns.ts'
import { keyLimitError, hashOf, type Admit, type Credentials } from '../admission/admission.ts'
import type { Endpoint } from './answer-senders.ts'

/** How much of a body is read without a valid key. */
const UNKNOWN_BODY_BYTES = 16 * 1024
/**
 * Memory that a point takes during its request; in the body it may have a hundredth of these bytes.
 */
const POINT_BYTES = 1024
/** A retry succeeds only after an operator changes something. */
const FORBIDDEN_SECONDS = 60
const NO_BODY = Buffer.alloc(0)

/**
 * The endpoints of apps. These apps resend everything, in order, until they get a 2xx, so one bad
 * point would block all later ones. Therefore a report that can never be accepted gets the same
 * response as an accepted one, once its rejection is durable.
 */
export function appEndpoints({
  admit,
  keyLimit,
  metrics,
  turns,
  clock,
  accept,
  rejectUnplaced,
}: {
  readonly admit: Admit
  readonly keyLimit: KeyLimit
  readonly metrics: ReportMetrics
  /** The slots for processing large bodies. */
  readonly turns: WorkTurns
  readonly clock: Clock
  readonly accept: Accept
  readonly rejectUnplaced: RejectUnplaced
}): (route: AppRoute) => Endpoint {
  return (route) => ({
    path: route.path,
    app: route.app.name,
    answer: (request) => answer(request, route),
    errorFor: (error) => errorFor(error, route.app),
  })

  async function answer(request: SenderRequest, { app, parameters, keyInPath }: AppRoute) {
    if (request.http.method === 'HEAD') return EMPTY
    const query = parseFields(request.query)
    const authorization = headerOf(request, 'authorization')
    const credentials = readCredentials({ authorization, path: keyInPath, query })
    const head: AppHead = {
      query: dropKey(query),
      parameters,
      header: (name) => headerOf(request, name),
      mediaType: mediaTypeOf(request),
      literalBasic: credentials.literalBasic,
    }
    const scope = 'positions:write'
    request.mostUnreadBytes = UNKNOWN_BODY_BYTES
    const { grant } = await admit(request, { credentials, scope, keyLimit })
    request.mostUnreadBytes = undefined
    const { key } = grant
    const { chunks } = request

    const body = await bodyOf(request, app)
    const refuse = async ({ error: fault, message }: ApiError) => {
      const error = fault === 'PAYLOAD_TOO_LARGE' ? fault : 'INVALID_PARAMS'
      const refusal = { key, error, message, received: { chunks }, isAwaited: true } as const
      request.isCounted = true
      await durable([metrics.refused(refusal, app.name)], request)
      return app.answer(head)
    }
    if (body instanceof ApiError) return refuse(body)
    if (body.length >= turns.fromBytes) {
      await turns.begin(request)
      if (!isMultipart(request) && (await hasTooManyParts(body))) return refuse(TOO_MANY_PARTS)
    }
    const items = app.read({ body, ...head })
    if (items.length > 1 && !request.hold(items.length * POINT_BYTES)) throw overloadedError()
    // Counted before the work; otherwise concurrent requests would all be within the limit.
    const charge = await keyLimit.charge(key, items.length - 1)
    if (charge.exhausted !== undefined) throw keyLimitError(charge.exhausted)
    const now = clock.now()
    const submitted = await toReports(items, { key, now, chunks })
    const { reports, droppedAttributes, withoutFix } = submitted
    metrics.droppedAttributes(droppedAttributes, app.name)
    const { outcomes, rejections } = await accept(grant, reports, request).catch(
      async (error: unknown) => {
        await charge.giveBack()
        throw error
      },
    )
    const unplaced = await rejectUnplaced(outcomes, { reports, key, app: app.name })
    throwIfPostponed(outcomes)
    metrics.withoutFix(withoutFix, app.name)
    await durable([...rejections, ...unplaced], request)
    charge.owe()
    return app.answer(head)
  }

  /** The body, or the reason why it can never be accepted. */
  async function bodyOf(
    request: SenderRequest,
    { limitBytes, takesFiles }: SenderApp,
  ): Promise<Buffer | ApiError> {
    const { http } = request
    if (http.method === 'GET') return NO_BODY
    try {
      const body = await readBody(request, limitBytes)
      if (takesFiles === true && isMultipart(request)) return body
      if (isUtf8(body)) return skipByteOrderMark(body)
      return new ApiError('INVALID_PARAMS', 'the body must be UTF-8')
    } catch (thrown) {
      const error = toApiError(thrown)
      // An app that has disconnected will resend it.
      const isGone = http.destroyed && !http.complete
      if (error.status < 500 && !isGone) return error
      if (error.status < 500) metrics.failed(CUT_OFF, request)
      throw error
    }
  }
}

function isMultipart(request: SenderRequest): boolean {
  return mediaTypeOf(request).startsWith('multipart/')
}

const CUT_OFF = unavailable('the request was cut off')
const TOO_MANY_PARTS = new ApiError('INVALID_PARAMS', 'the body has too many parts')

/**
 * A 503 for every refused request, so that the app resends it; a 401 without a valid key, or if the
 * key lacks the scope.
 */
function errorFor(error: ApiError, { never4xx = false }: SenderApp): ApiError {
  if (error.error === 'SERVICE_UNAVAILABLE') return error
  const { 'WWW-Authenticate': challenge, 'Retry-After': resetSeconds } = error.headers
  if (challenge !== undefined && !never4xx) {
    return new ApiError('UNAUTHORIZED', error.message, { headers: error.headers })
  }
  const message = error.error === 'SERVER_ERROR' ? AGAIN : error.message
  const isForbidden = error.error === 'FORBIDDEN' && challenge === undefined
  const seconds = isForbidden ? String(FORBIDDEN_SECONDS) : retryAfterSeconds()
  const headers = { 'Retry-After': resetSeconds ?? seconds }
  return new ApiError('SERVICE_UNAVAILABLE', message, { headers })
}

const AGAIN = 'the service cannot do this right now, please send it again'

/** @throws {ApiError} if one of the reports may be accepted later. */
function throwIfPostponed(outcomes: readonly Outcome[]): void {
  for (const outcome of outcomes) {
    if (outcome.kind !== 'refused' || !outcome.retriable) continue
    throw refusalOf(outcome)
  }
}

/** @throws {ApiError} 503 if the rejections are not written in time. */
async function durable(rejections: readonly Offered[], { deadline }: SenderRequest): Promise<void> {
  if (rejections.length === 0) return
  const written = Promise.all(rejections.map((rejection) => rejection.written))
  const all = await awaitUntil(deadline, written, notWrittenError)
  if (!all.every(Boolean)) throw notWrittenError()
}

function notWrittenError(): ApiError {
  return unavailable('the rejection could not be stored: send the request again')
}

/** An app's key, and where the app sent it. */
type AppCredentials = Credentials & {
  /** Whether it came in an unencoded header `Basic <key>:`, as Overland sends it. */
  readonly literalBasic: boolean
}

const EXPECTED_IN =
  'send a valid API key: as Bearer, as the password of Basic, or in the URL where this path has it'

/** Bearer, the password of Basic, a literal Basic, the path, the query's `key` or `api_key`. */
function readCredentials({
  authorization,
  path,
  query: { key, api_key: apiKey },
}: {
  authorization: string
  /** The path segment that may be a key. */
  path: string | undefined
  query: Fields
}): AppCredentials {
  const literal = /^basic +(gps_[^:\s]*):? *$/i.exec(authorization)?.[1]
  const places = [
    bearerToken(authorization),
    basicPassword(authorization),
    literal,
    path,
    key,
    apiKey,
  ]
  for (const text of places) {
    const hash = text && hashOf(text)
    if (hash) return { hash, literalBasic: text === literal, isSent: true, expectedIn: EXPECTED_IN }
  }
  const isSent = places.some(Boolean)
  return { hash: undefined, literalBasic: false, isSent, expectedIn: EXPECTED_IN }
}

/** RFC 7617; the user name is ignored. */
function basicPassword(authorization: string): string | undefined {
  const encoded = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const pair = Buffer.from(encoded, 'base64').toString('latin1')
  const colon = pair.indexOf(':')
  return colon === -1 ? undefined : pair.slice(colon + 1)
}

/** The query without the key. */
function dropKey(query: Fields): Fields {
  if (query['key'] === undefined && query['api_key'] === undefined) return query
  return Object.fromEntries(
    Object.entries(query).filter(([name]) => name !== 'key' && name !== 'api_key'),
  )
}
