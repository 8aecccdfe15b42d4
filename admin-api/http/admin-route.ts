import type { HttpContext, HttpState } from '../../runtime/http/http.ts'
import { invalidParams, type ErrorIdentifier } from '../../runtime/errors.ts'
import type { JsonSchema } from '../../runtime/openapi/json-schema.ts'
import type { Scope } from '../../store/keys.ts'
import type { Role } from '../../store/operators.ts'
import type { Caller, OperatorCaller } from './caller.ts'
import type { InputOf, Rules } from './rule.ts'
import type { ShareCaller } from './share-callers.ts'

export type AdminContext = HttpContext<HttpState>

export type { JsonSchema }

/** The parsed input of a request. */
export type Input<Query extends object = InputOf<Rules>, Body extends object = InputOf<Rules>> = {
  readonly query: Query
  readonly body: Body
  /**
   * Ends the caller's turn (`caller-limits.ts`) before the response: from now on the call only
   * waits, and counts as a stream.
   */
  readonly endTurn: () => void
}

/**
 * A call of the admin API: its description, input, responses, and required access. The OpenAPI
 * document is generated from it. `viewer`, `dispatcher` and `admin` are the minimum role of an
 * operator; `platform` is an operator with access to every account; an API key needs the scope
 * `admin`, or `scope` where the call names a narrower one. `session`, `dispatcher session`, `admin
 * session` and `platform` are for operators only: a leaked key must not create sign-ins that
 * outlive it. `share` is only for the token of a share.
 */
export type AdminRoute<Query extends Rules = Rules, Body extends Rules = Rules> = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Relative to the API's prefix. */
  readonly path: string
  /** The purpose of the call, in a few words. */
  readonly summary: string
  /** Further details for callers, in Markdown. */
  readonly description?: string
  /** Query parameters, if the call takes any. */
  readonly query?: Query
  /** Fields of the body; without them, no body is read. */
  readonly body?: Body
  /** For the OpenAPI document. */
  readonly bodyExample?: object
  /** If set, a request without a body counts as one with an empty object. */
  readonly bodyMayBeAbsent?: true
  /** If set, the body may have fields that are ignored. */
  readonly bodyOthersIgnored?: true
  /** Maximum size of the body; by default 16 KiB. */
  readonly bodyLimitBytes?: number
  readonly answer: {
    /** Default: 200. */
    readonly status?: 201 | 202
    /** Schema of the envelope's data; by default null. */
    readonly data?: JsonSchema
    /** Responses outside the envelope, by media type. */
    readonly content?: { readonly [mediaType: string]: JsonSchema }
  }
  /** The response may be compressed. Never for responses with secrets: see `compressAnswer`. */
  readonly compressed?: true
  /** Errors in addition to those implied by the call's access and input. */
  readonly errors?: readonly ErrorIdentifier[]
} & (
  | {
      readonly needs: 'nobody'
      readonly handle: (ctx: AdminContext, input: Taken<Query, Body>) => Promise<void>
    }
  | {
      readonly needs: 'session' | 'dispatcher session' | 'admin session' | 'platform'
      readonly handle: (
        ctx: AdminContext,
        caller: OperatorCaller,
        input: Taken<Query, Body>,
      ) => Promise<void>
    }
  | {
      readonly needs: 'share'
      readonly handle: (
        ctx: AdminContext,
        caller: ShareCaller,
        input: Taken<Query, Body>,
      ) => Promise<void>
    }
  | {
      readonly needs: Role
      readonly scope?: Scope
      readonly handle: (
        ctx: AdminContext,
        caller: Caller,
        input: Taken<Query, Body>,
      ) => Promise<void>
    }
)

type Taken<Query extends Rules, Body extends Rules> = Input<InputOf<Query>, InputOf<Body>>

/**
 * A route whose handler accepts input. The handler gets the types of the route's own rules, which
 * the type of a list of routes cannot express.
 */
export function route<
  Query extends Rules = Readonly<Record<never, never>>,
  Body extends Rules = Readonly<Record<never, never>>,
>(typed: AdminRoute<Query, Body>): AdminRoute {
  return typed as unknown as AdminRoute
}

/**
 * A parameter of a route's path: by default the first. Decoded here, because the router would take
 * broken percent-encoding literally.
 * @throws {ApiError} 400 naming `field`.
 */
export function pathParameter(ctx: AdminContext, field: string, place = 0): string {
  const { captures } = ctx as { captures?: readonly string[] }
  try {
    return decodeURIComponent(captures?.[place] ?? '')
  } catch {
    const message = `${field} must be percent-encoded UTF-8 in the path`
    throw invalidParams([{ field, message }])
  }
}

/** Runs `work` once the response has been sent or the client has disconnected. */
export function runOnceAnswered({ res }: AdminContext, work: () => void): void {
  if (res.destroyed) work()
  else res.once('close', work)
}
