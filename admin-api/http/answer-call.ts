import { Stream } from 'node:stream'
import { clientOf } from '../../runtime/http/client-address.ts'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { HttpMiddleware } from '../../runtime/http/http.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import type { Store } from '../../store/store.ts'
import { runOnceAnswered, type AdminContext, type AdminRoute, type Input } from './admin-route.ts'
import { readJsonFields } from './body.ts'
import { actorId, identifyCaller, type Caller } from './caller.ts'
import type { CallerLimits, LimitedCaller } from './caller-limits.ts'
import { compressAnswer } from './compress.ts'
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

export type CallDependencies = {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly limits: CallerLimits
  readonly lookUp: LookUp
  readonly identifyShare: (ctx: AdminContext) => Promise<ShareCaller>
  /** Throws while calls other than those about a session must not be served yet. */
  readonly mayRead: () => void
  readonly writeLateEntries: () => Promise<void>
}

/** A call whose caller is known. */
type Identified = {
  /** Identifies the caller for the limits. */
  readonly limitedAs: LimitedCaller
  /** Checks the caller's rights, then reads the input and handles the call. */
  readonly serve: (endTurn: () => void) => Promise<void>
}

/**
 * Answers a call in the order in which every call passes these steps:
 * 1. the service is ready to be read, and the audit complete before a change (`record-action.ts`);
 * 2. who calls: a key or session (`caller.ts`, `session-cookie.ts`), or a share (`share-callers.ts`);
 * 3. the caller's limits (`caller-limits.ts`), which end with the response;
 * 4. the caller's rights (`rights.ts`);
 * 5. the query, then the body, by the route's rules (`query.ts`, `body.ts`, `rule.ts`);
 * 6. the route's handler, which answers in the envelope, page by page (`answer-page.ts`) or in parts;
 * 7. compression (`compress.ts`).
 */
export function answerCall(route: AdminRoute, deps: CallDependencies): HttpMiddleware {
  const isOfSession = route.path.startsWith('/session')
  const isEndless = route.answer.content?.['text/event-stream'] !== undefined

  return async function answerCall(ctx) {
    if (!isOfSession) deps.mayRead()
    if (route.method !== 'GET') await deps.writeLateEntries()
    if (route.needs === 'nobody') return route.handle(ctx, await readInput(ctx, endNoTurn))
    const { limitedAs, serve } =
      route.needs === 'share' ? await admitShare(ctx, route) : await admitCaller(ctx, route)
    if (isEndless) return serve(endNoTurn)
    let isOver = false
    ctx.state.party = limitedAs.party
    const giveBack = await deps.limits.begin(limitedAs)
    const end = () => {
      if (!isOver) giveBack()
      isOver = true
    }
    try {
      if (!ctx.req.socket.destroyed) await serve(end)
      if (route.compressed === true) await compressAnswer(ctx)
    } catch (error) {
      end()
      throw error
    }
    // A file is generated while it is sent.
    if (ctx.body instanceof Stream) runOnceAnswered(ctx, end)
    else end()
  }

  async function admitShare(
    ctx: AdminContext,
    route: AdminRoute & { needs: 'share' },
  ): Promise<Identified> {
    const share = await deps.identifyShare(ctx)
    const address = `address ${clientOf(ctx.ip)}`
    return {
      limitedAs: { party: address, caller: address },
      serve: async (endTurn) => route.handle(ctx, share, await readInput(ctx, endTurn)),
    }
  }

  async function admitCaller(
    ctx: AdminContext,
    route: Exclude<AdminRoute, { needs: 'nobody' | 'share' }>,
  ): Promise<Identified> {
    const caller = await identifyCaller(ctx, deps)
    const actor = actorId(caller)
    // Signing in and out, and the page's own session check, do not wait for other calls.
    const limitedAs = { party: isOfSession ? actor : caller.accountId, caller: actor }
    return { limitedAs, serve: (endTurn) => serve(ctx, route, caller, endTurn) }
  }

  async function serve(
    ctx: AdminContext,
    route: Exclude<AdminRoute, { needs: 'nobody' | 'share' }>,
    caller: Caller,
    endTurn: () => void,
  ): Promise<void> {
    if (caller.kind === 'operator') {
      requireOwnPage(ctx)
      requireOwnPassword(caller, route.path)
    }
    switch (route.needs) {
      case 'session':
      case 'dispatcher session':
      case 'admin session':
      case 'platform': {
        const operator = requireOperator(caller)
        if (route.needs === 'platform') requirePlatform(operator)
        if (route.needs === 'dispatcher session') requireRole(operator, 'dispatcher')
        if (route.needs === 'admin session') requireRole(operator, 'admin')
        return route.handle(ctx, operator, await readInput(ctx, endTurn))
      }
      case 'viewer':
      case 'dispatcher':
      case 'admin':
        requireRight(caller, route)
        return route.handle(ctx, caller, await readInput(ctx, endTurn))
    }
  }

  async function readInput(ctx: AdminContext, endTurn: () => void): Promise<Input> {
    const now = deps.clock.now()
    const query = readQuery(ctx, route.query ?? {}, { now })
    if (route.body === undefined) return { query, body: {}, endTurn }
    const body = await readJsonFields(ctx, route.body, {
      now,
      mayBeAbsent: route.bodyMayBeAbsent === true,
      othersIgnored: route.bodyOthersIgnored === true,
      limitBytes: route.bodyLimitBytes,
    })
    return { query, body, endTurn }
  }
}

function endNoTurn(): void {}

/**
 * Browsers send cookies with cross-site requests too; only pages of this origin can set this
 * header.
 */
function requireOwnPage(ctx: AdminContext): void {
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return
  if (ctx.get('x-requested-with') === 'console') return
  throw new ApiError('FORBIDDEN', 'send the header X-Requested-With: console with this request')
}
