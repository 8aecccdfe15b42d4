import { LRUCache } from 'lru-cache'
import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import { secretHash } from '../../schemas/access/api-key.ts'
import type { AdminContext } from './admin-route.ts'
import { deviceList, identifyCaller, type Caller, type CallerStore } from './caller.ts'
import { sessionToken } from './session-cookie.ts'

/** Whether the caller may still read this stream. */
export type AccessCheck = (ctx: AdminContext, letIn: Caller) => Promise<boolean>

const REMEMBERED = 10_000

/**
 * Repeats the request's authorization without side effects: a stream does not extend a session and
 * does not count as use of a key. Readers with the same secret share results up to `sharedMs` old.
 * An unavailable store ends no stream.
 */
export function accessCheck({
  store,
  clock,
  logger,
  sharedMs,
}: {
  store: CallerStore
  clock: Clock
  logger: Logger
  sharedMs: number
}): AccessCheck {
  const answers = new LRUCache<string, Promise<string | undefined>>({
    max: REMEMBERED,
    ttl: sharedMs,
  })
  const looking: CallerStore = {
    findGrant: (hash) => store.findGrant(hash),
    findSession: (hash) => store.findSession(hash),
    deleteSession: (hash) => store.deleteSession(hash),
    touchKeys: async () => {},
    touchSession: async () => {},
  }

  return async function mayStillRead(ctx, letIn) {
    const shownSecret = `${ctx.get('authorization')}\n${sessionToken(ctx) ?? ''}`
    const id = secretHash(shownSecret).toString('base64')
    let answer = answers.get(id)
    if (answer === undefined) answers.set(id, (answer = readCurrentAccess(ctx)))
    try {
      return (await answer) === readable(letIn)
    } catch (error) {
      logger.debug({ err: error }, 'could not check the access of a stream reader')
      return true
    }
  }

  /** The access that the secret grants now, if any. */
  async function readCurrentAccess(ctx: AdminContext): Promise<string | undefined> {
    try {
      return readable(await identifyCaller(ctx, { store: looking, clock, logger }))
    } catch (error) {
      if (error instanceof ApiError) return undefined
      throw error
    }
  }
}

function readable(caller: Caller): string {
  return JSON.stringify([caller.accountId, deviceList(caller)])
}
