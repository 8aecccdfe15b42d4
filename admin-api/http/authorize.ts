import { Stream } from 'node:stream'
import { clientOf } from '../../runtime/client-address.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { HttpMiddleware } from '../../runtime/http.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Store } from '../../store/store.ts'
import { type AdminContext, type AdminRoute, type Input, onceAnswered } from './admin-route.ts'
import { readJsonFields } from './body.ts'
import type { CallerLimits } from './caller-limits.ts'
import { compressAnswer } from './compress.ts'
import { actorId, identifyCaller, type Caller } from './caller.ts'
import type { LookUp } from './known-secrets.ts'
import { readQuery } from './query.ts'
import {
  requireOperator,
  requireOwnPassword,
  requirePlatform,
  requireRight,
  requireRole,
} from './rights.ts'
import type { ShareCaller } from './share-callers.ts'

/** Checks that the caller may use a route before reading anything else of the request. */
export function authorized(
  route: AdminRoute,
  deps: {
    store: Store
    clock: Clock
    logger: Logger
    limits: CallerLimits
    lookUp: LookUp
    writeLateEntries: () => Promise<void>
    identifyShare: (ctx: AdminContext) => Promise<ShareCaller>
  },
): HttpMiddleware {
  const input = (ctx: AdminContext) => readInput(ctx, route, deps.clock.now())
  const isEndless = route.answer.content?.['text/event-stream'] !== undefined

  return async function authorized(ctx) {
    if (route.method !== 'GET') await deps.writeLateEntries()
    if (route.needs === 'nobody') return route.handle(ctx, await input(ctx))
    if (route.needs === 'share') {
      const share = await deps.identifyShare(ctx)
      const handle = async () => route.handle(ctx, share, await input(ctx))
      return isEndless ? handle() : limited(ctx, `address ${clientOf(ctx.ip)}`, handle)
    }
    const caller = await identifyCaller(ctx, deps)
    if (isEndless) return serve(ctx, route, caller)
    return limited(ctx, actorId(caller), () => serve(ctx, route, caller))
  }

  async function limited(ctx: AdminContext, id: string, call: () => Promise<void>): Promise<void> {
    const end = await deps.limits.begin(id)
    try {
      if (!ctx.req.socket.destroyed) await call()
      if (route.compressed === true) await compressAnswer(ctx)
    } catch (error) {
      end()
      throw error
    }
    // A file is generated while it is sent.
    if (ctx.body instanceof Stream) onceAnswered(ctx, end)
    else end()
  }

  async function serve(
    ctx: AdminContext,
    route: Exclude<AdminRoute, { needs: 'nobody' | 'share' }>,
    caller: Caller,
  ): Promise<void> {
    if (caller.kind === 'operator') {
      requireOwnPage(ctx)
      requireOwnPassword(caller, route.path)
    }
    switch (route.needs) {
      case 'session':
      case 'admin session':
      case 'platform': {
        const operator = requireOperator(caller)
        if (route.needs === 'platform') requirePlatform(operator)
        if (route.needs === 'admin session') requireRole(operator, 'admin')
        return route.handle(ctx, operator, await input(ctx))
      }
      case 'viewer':
      case 'dispatcher':
      case 'admin':
        requireRight(caller, route)
        return route.handle(ctx, caller, await input(ctx))
    }
  }
}

/** Validates the query, then the body, against the route's rules. */
async function readInput(ctx: AdminContext, route: AdminRoute, now: number): Promise<Input> {
  const query = readQuery(ctx, route.query ?? {}, { now })
  if (route.body === undefined) return { query, body: {} }
  const { bodyMayBeAbsent: mayBeAbsent = false, bodyLimitBytes: limitBytes } = route
  return { query, body: await readJsonFields(ctx, route.body, { now, mayBeAbsent, limitBytes }) }
}

/**
 * Browsers send cookies with cross-site requests too; only pages of this origin can set this
 * header.
 */
function requireOwnPage(ctx: AdminContext): void {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return
  if (ctx.get('x-requested-with') === 'console') return
  throw new ApiError('FORBIDDEN', 'send the header X-Requested-With: console with this request')
}
