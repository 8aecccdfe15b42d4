import type { HttpContext, HttpState } from '../runtime/http.ts'
import { invalidParams } from '../runtime/errors.ts'
import type { Scope } from '../store/store.ts'
import type { Caller, OperatorCaller } from './caller.ts'

export type AdminContext = HttpContext<HttpState>

/**
 * One call of the admin API: what it is and who may make it. `viewer` and `admin` are roles of
 * operators; an API key needs the scope `admin`, or `scope` where the call names a narrower one.
 */
export type AdminRoute = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Under the prefix of the API. */
  readonly path: string
} & (
  | { readonly needs: 'nobody'; handle(ctx: AdminContext): Promise<void> }
  | { readonly needs: 'session'; handle(ctx: AdminContext, caller: OperatorCaller): Promise<void> }
  | {
      readonly needs: 'viewer' | 'admin'
      readonly scope?: Scope
      handle(ctx: AdminContext, caller: Caller): Promise<void>
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
