import { successEnvelope } from '../../runtime/http.ts'
import type { ApiError } from '../../runtime/errors.ts'
import type { SenderRequest } from '../requests/sender-request.ts'

/** The body is JSON, or empty. */
export type Answer = { readonly status: number; readonly body: string }

/** One way of reporting: it turns a request into reports, and their outcomes into an answer. */
export type Endpoint = {
  /** Names the route in metrics. */
  readonly path: string
  /** @throws {ApiError | DependencyError} for a failure of the whole request. */
  readonly answer: (request: SenderRequest) => Promise<Answer>
  /** The error that the sender gets in place of another one; absent: that one. */
  readonly errorFor?: (error: ApiError) => ApiError
}

/** The 200 of our own calls. */
export function success(message: string, data: unknown): Answer {
  return { status: 200, body: JSON.stringify(successEnvelope(data, { status: 200, message })) }
}
