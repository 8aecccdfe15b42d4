import type { Clock } from '../runtime/clock.ts'
import { ApiError } from '../runtime/errors.ts'
import type { HttpMiddleware } from '../runtime/http.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Scope, Store } from '../store/store.ts'
import type { AdminContext, AdminRoute } from './admin-route.ts'
import { identifyCaller, type Caller } from './caller.ts'

/** Serves a route to those who may call it; nothing else of a request is looked at before that. */
export function authorized(
  route: AdminRoute,
  deps: { store: Store; clock: Clock; logger: Logger },
): HttpMiddleware {
  return async function authorized(ctx) {
    if (route.needs === 'nobody') return route.handle(ctx)
    const caller = await identifyCaller(ctx, deps)
    if (caller.kind === 'operator') requireOwnPage(ctx)
    if (route.needs === 'session') {
      if (caller.kind === 'operator') return route.handle(ctx, caller)
      throw new ApiError('FORBIDDEN', 'this call is for operators who have signed in, not for keys')
    }
    requireRight(caller, route)
    await route.handle(ctx, caller)
  }
}

/**
 * Browsers send cookies with requests that other sites cause; they send a header of this name only
 * for pages of this origin.
 */
function requireOwnPage(ctx: AdminContext): void {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return
  if (ctx.get('x-requested-with') === 'console') return
  throw new ApiError('FORBIDDEN', 'send the header X-Requested-With: console with this request')
}

function requireRight(
  caller: Caller,
  { needs, scope }: { needs: 'viewer' | 'admin'; scope?: Scope },
): void {
  if (caller.kind === 'operator') {
    if (needs === 'viewer' || caller.operator.role === 'admin') return
    throw new ApiError('FORBIDDEN', 'this call needs the role admin')
  }
  const { scopes } = caller.key
  if (scopes.includes('admin') || (scope !== undefined && scopes.includes(scope))) return
  const lacking = scope ?? 'admin'
  throw new ApiError('FORBIDDEN', `this API key lacks the scope ${lacking}`, {
    headers: {
      'WWW-Authenticate': `Bearer realm="gps", error="insufficient_scope", scope="${lacking}"`,
    },
  })
}
