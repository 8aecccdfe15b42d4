import type { IncomingMessage } from 'node:http'
import type { Fault } from '../../runtime/errors.ts'
import { requestIdOf } from '../../runtime/http.ts'
import type { ApiKey } from '../../store/back-office.ts'
import type { SubmittedPosition } from '../accept/outcome.ts'

/** A request of a sender, until it is answered. */
export type SenderRequest = {
  readonly requestId: string
  readonly http: IncomingMessage
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  /** Headers of the answer, even if the endpoint throws: names and values in turn. */
  readonly answerHeaders: string[]
  /** False if too many reports are under way. */
  readonly hasPlace: boolean
  /** Once it is known. */
  key: Pick<ApiKey, 'id' | 'accountId'> | undefined
  /** Bytes held for the request, released once its work is done. */
  heldBytes: number
  /** Ends the turn of its work, if it has one: see `WorkTurns`. */
  endWork?: (() => void) | undefined
  /** After an error, a longer unread body closes the connection rather than being read to its end. */
  mostUnreadBytes?: number | undefined
}

export function senderRequest(
  http: IncomingMessage,
  { path, query }: Pick<SenderRequest, 'path' | 'query'>,
  hasPlace = true,
): SenderRequest {
  const requestId = requestIdOf(http)
  const answerHeaders = ['X-Request-Id', requestId]
  return { requestId, http, path, query, answerHeaders, hasPlace, key: undefined, heldBytes: 0 }
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
