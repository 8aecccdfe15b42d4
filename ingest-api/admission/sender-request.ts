import type { IncomingMessage } from 'node:http'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import { unavailable, type ApiError, type Fault } from '../../runtime/errors.ts'
import { requestIdOf } from '../../runtime/http/http-request.ts'
import type { Holder, HttpAnswer } from '../../runtime/http/in-flight.ts'
import type { ApiKey } from '../../store/keys.ts'
import type { SubmittedPosition } from '../accept/outcome.ts'

/** The longest that a request waits for store and log together; its answer must be sent within 6 s. */
const WAITS_MS = 5_400

/** The part of an answer that says how many requests are under way. */
type Place = Pick<HttpAnswer, 'inFlight' | 'takePlace' | 'takePlaceOf' | 'beginBody' | 'endBody'>

/** A request of a sender until it is answered, and what its handling may use. */
export class SenderRequest implements Holder {
  readonly http: IncomingMessage
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  readonly requestId: string
  /** The app whose format it has; undefined: ours. */
  readonly app: string | undefined
  /** Headers of the answer, even if the endpoint throws: names and values in turn. */
  readonly answerHeaders: string[]
  /** By `performance.now()`, like `deadline`. */
  readonly started = performance.now()
  /** Until then store and log must have answered. The time in which the client sends its body is added. */
  deadline = this.started + WAITS_MS
  /** False if too many reports are under way. */
  readonly hasPlace: boolean
  /** Once it is known. */
  key: Pick<ApiKey, 'id' | 'accountId'> | undefined = undefined
  /** The part of its body that has arrived, decompressed: a rejection shows it. */
  readonly chunks: Buffer[] = []
  /** Bytes held for the request, released once its work is done. */
  heldBytes = 0
  /** Its place among the requests under way: a slow client takes none of others while its body arrives. */
  readonly place: Place
  /** Whether its reports are counted by their outcomes, so that a later failure does not count them again. */
  isCounted = false
  /** Ends the turn of its work, if it has one: see `WorkTurns`. */
  endWork: (() => void) | undefined = undefined
  /** After an error, a longer unread body closes the connection rather than being read to its end. */
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

  /** Holds further bytes. False if there is no room for them. */
  hold(bytes: number): boolean {
    return this.place.inFlight?.hold(this, bytes) ?? true
  }

  /** Call once its work is done, even if its client has gone. */
  release(): void {
    this.place.inFlight?.release(this)
    this.endWork?.()
  }
}

/** The path and the query of a request. */
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

export function overloaded(): ApiError {
  return unavailable('the service is overloaded, please send it again')
}

/**
 * The 503 of a request whose account has its share of those under way. It comes at the end of the turn: a sender that
 * repeats a refused request at once must not keep the turn, and the reports that wait for its end, from ending.
 */
export async function shareTaken(): Promise<ApiError> {
  await endOfTurn()
  return unavailable('too many requests of this account are under way, please send it again')
}
