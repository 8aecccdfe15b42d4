import type Joi from 'joi'
import type { HttpContext, HttpState } from '../../runtime/http.ts'
import { invalidParams, type ErrorIdentifier } from '../../runtime/errors.ts'
import type { JsonSchema } from '../../runtime/openapi/json-schema.ts'
import type { Scope } from '../../store/back-office.ts'
import type { Caller, OperatorCaller } from './caller.ts'

export type AdminContext = HttpContext<HttpState>

/** The rules of a query or a body, field by field. */
export type Rules = { readonly [field: string]: Joi.Schema }

export type { JsonSchema }

/** What the rules of a route made of the request. */
export type Input<Query extends object = object, Body extends object = object> = {
  readonly query: Query
  readonly body: Body
}

/**
 * One call of the admin API: what it is, what it takes and answers, and who may make it. The OpenAPI
 * document is made from the same. `viewer` and `admin` are roles of operators, `platform` is an
 * operator who may do it to every account; an API key needs the scope `admin`, or `scope` where the
 * call names a narrower one. `session`, `admin session` and `platform` are for operators alone: a key
 * that is found out must not make sign-ins that outlast it.
 */
export type AdminRoute = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Under the prefix of the API. */
  readonly path: string
  /** What the call does, in a few words. */
  readonly summary: string
  /** What else a caller should know, in Markdown. */
  readonly description?: string
  /** Absent: no parameter. */
  readonly query?: Rules
  /** Absent: no body is read. */
  readonly body?: Rules
  /** A request without a body is one with an empty object then. */
  readonly bodyMayBeAbsent?: true
  readonly answer: {
    /** 200 unless it says otherwise. */
    readonly status?: 201 | 202
    /** What the envelope holds; absent: null. */
    readonly data?: JsonSchema
    /** Answers outside the envelope, by media type. */
    readonly content?: { readonly [mediaType: string]: JsonSchema }
  }
  /** Besides those that follow from what the call needs and takes. */
  readonly errors?: readonly ErrorIdentifier[]
} & (
  | { readonly needs: 'nobody'; handle(ctx: AdminContext, input: Input): Promise<void> }
  | {
      readonly needs: 'session' | 'admin session' | 'platform'
      handle(ctx: AdminContext, caller: OperatorCaller, input: Input): Promise<void>
    }
  | {
      readonly needs: 'viewer' | 'admin'
      readonly scope?: Scope
      handle(ctx: AdminContext, caller: Caller, input: Input): Promise<void>
    }
)

/**
 * The one parameter of a route's path. Decoded here, not by the router, which would take broken
 * percent-encoding for the text itself.
 * @throws {ApiError} 400 naming `field`.
 */
export function pathParameter(ctx: AdminContext, field: string): string {
  const { captures } = ctx as { captures?: readonly string[] }
  try {
    return decodeURIComponent(captures?.[0] ?? '')
  } catch {
    const message = `${field} must be percent-encoded UTF-8 in the path`
    throw invalidParams([{ field, message }])
  }
}
