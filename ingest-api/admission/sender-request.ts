import type { IncomingMessage } from 'node:http'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { unavailable, type ApiError, type Fault } from '../../runtime/errors.ts'
import { requestIdOf } from '../../runtime/http/http-request.ts'
import type { Holder, HttpAnswer } from '../../runtime/http/in-flight.ts'
import type { ApiKey } from '../../store/keys.ts'
import type { SubmittedPosition } from '../accept/outcome.ts'

/** How long a request may wait for store and log together; the response must be sent within 6 s. */
const WAITS_MS = 5_400

/** The part of a response that says how many requests are in flight. */
type Place = Pick<HttpAnswer, 'inFlight' | 'takePlace' | 'takePlaceOf' | 'beginBody' | 'endBody'>

/** A sender's request until its response is sent, and the means for handling it. */
export class SenderRequest implements Holder {
  readonly http: IncomingMessage
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  readonly requestId: string
  /** The app whose format is used; undefined for our own. */
  readonly app: string | undefined
  /** Headers sent even if the endpoint throws: alternating names and values. */
  readonly answerHeaders: string[]
  /** On the clock of `performance.now()`, like `deadline`. */
  readonly started = performance.now()
  /**
   * When store and log must have responded. The time in which the client sends its body is added.
   */
  deadline = this.started + WAITS_MS
  /** False if too many reports are in flight. */
  readonly hasPlace: boolean
  /** Set once the key is known. */
  key: Pick<ApiKey, 'id' | 'accountId'> | undefined = undefined
  /** The part of its body that has arrived, decompressed, for a rejection. */
  readonly chunks: Buffer[] = []
  /** Bytes reserved for the request, released once its work is done. */
  heldBytes = 0
  /**
   * The request's slot among those in flight: a slow client takes no slot from others while its
   * body arrives.
   */
  readonly place: Place
  /**
   * Whether the reports have been counted by outcome, so that a later failure does not count them
   * again.
   */
  isCounted = false
  /** Releases its slot for work, if it has one: see `WorkTurns`. */
  endWork: (() => void) | undefined = undefined
  /**
   * After an error, a longer unread body closes the connection instead of being read to its end.
   */
  mostUnreadBytes: number | undefined = undefined

  constructor(
    http: IncomingMessage,
    { path, query }: { readonly path: string; readonly query: string },
    answer: Place,
    app?: string,
  ) {
    this.http = http
    this.path = path
    this.query = query
    this.requestId = requestIdOf(http)
    this.app = app
    this.answerHeaders = ['X-Request-Id', this.requestId]
    this.place = answer
    this.hasPlace = answer.takePlace()
  }

  /** Reserves further bytes. False if there is no room for them. */
  hold(bytes: number): boolean {
    return this.place.inFlight?.hold(this, bytes) ?? true
  }

  /** Call once work on the request is done, even if the client has disconnected. */
  release(): void {
    this.place.inFlight?.release(this)
    this.endWork?.()
  }
}

/** The path and query of a request. */
export function targetOf({ url = '' }: IncomingMessage): Pick<SenderRequest, 'path' | 'query'> {
  const hash = url.indexOf('#')
  const target = hash === -1 ? url : url.slice(0, hash)
  const mark = target.indexOf('?')
  if (mark === -1) return { path: target, query: '' }
  return { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

/** A header's value; empty if it was not sent. `name` in lower case. */
export function headerOf({ http }: SenderRequest, name: string): string {
  const value = http.headers[name]
  return typeof value === 'string' ? value : ''
}

/** The media type of the body, in lower case and without parameters. */
export function mediaTypeOf(request: SenderRequest): string {
  const type = headerOf(request, 'content-type')
  const end = type.indexOf(';')
  return (end === -1 ? type : type.slice(0, end)).trim().toLowerCase()
}

/** The value of the `Idempotency-Key` header, or its fault. */
export function idempotencyKey({
  http,
}: SenderRequest): Pick<SubmittedPosition, 'idempotencyKey' | 'faults'> {
  const header = http.headers['idempotency-key']
  if (header === undefined) return {}
  if (typeof header === 'string' && /^[\x21-\x7e]{1,255}$/.test(header)) {
    return { idempotencyKey: header }
  }
  return { faults: [FAULT] }
}

const FAULT: Fault = {
  field: 'Idempotency-Key',
  message: 'Idempotency-Key must be 1 to 255 visible ASCII characters',
}

export function overloadedError(): ApiError {
  return unavailable('the service is overloaded, please send it again')
}

/**
 * The 503 of a request whose account has used its share of the requests in flight. It is sent at
 * the end of the event-loop turn: a sender that immediately repeats refused requests must not
 * prolong the turn, because reports wait for its end.
 */
export async function shareTaken(): Promise<ApiError> {
  await endOfTurn()
  return unavailable('too many requests of this account are in progress, please send it again')
}
