import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { Logger } from '../../runtime/process/logger.ts'
import { Slots } from '../../runtime/limits/slots.ts'
import type { Store } from '../../store/store.ts'
import type { OperatorCaller } from '../http/caller.ts'
import { isSessionInForce } from '../http/session-cookie.ts'
import { createKey } from '../keys/keys.ts'

const LONGEST_IMPORT_MS = 60 * 60_000
/** Interval between checks of the session. */
const CHECKED_EVERY_MS = 5_000
const MOST_OPEN = 20
/**
 * An import idle for this long may be ended to make room: closing the page does not end its import.
 */
const IDLE_MS = 5 * 60_000
const NAME = 'Import in the console'
const TOO_MANY = `an account has at most ${MOST_OPEN} imports in progress: wait until one ends, or stop one`

/** A running import, with its key. */
export type OpenImport = {
  readonly id: string
  readonly accountId: string
  readonly keyId: string
  readonly secret: string
  readonly expiresAt: number
  readonly sessionHash: Uint8Array
  usedAt: number
}

type Deps = {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly stopping: AbortSignal
}

/**
 * The imports of this process. Their keys exist only in its memory, and are revoked when the import
 * ends, when the session that started it ends, and when the process stops; a crash loses them.
 */
export class OpenImports {
  readonly #deps: Deps
  readonly #open = new Map<string, OpenImport>()
  readonly #places = new Slots({ mostEach: MOST_OPEN })
  #checking: NodeJS.Timeout | undefined

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** @throws {ApiError} 409 while the account has the maximum number of imports, all in use. */
  async begin({ accountId, session }: OperatorCaller): Promise<OpenImport> {
    const { store, clock, stopping } = this.#deps
    await this.#makeRoom(accountId)
    const expiresAt = clock.now() + LONGEST_IMPORT_MS
    this.#places.take(accountId)
    const { key, secret } = await createKey({
      store,
      clock,
      accountId,
      expiresAt,
      name: NAME,
      scopes: ['positions:import'],
    }).catch((error: unknown) => {
      this.#places.giveBack(accountId)
      throw error
    })
    const { tokenHash: sessionHash } = session
    const usedAt = clock.now()
    const begun = { id: key.id, accountId, keyId: key.id, secret, expiresAt, sessionHash, usedAt }
    if (this.#open.size === 0) {
      stopping.addEventListener('abort', this.#endAll)
      this.#checking = setInterval(this.#check, CHECKED_EVERY_MS).unref()
    }
    this.#open.set(begun.id, begun)
    return begun
  }

  /** Finds an import; undefined if it is unknown here, has ended, or belongs to another session. */
  find(id: string, { session }: OperatorCaller): OpenImport | undefined {
    const found = this.#open.get(id)
    const now = this.#deps.clock.now()
    if (found === undefined || found.expiresAt <= now) return undefined
    if (Buffer.compare(found.sessionHash, session.tokenHash) !== 0) return undefined
    found.usedAt = now
    return found
  }

  async end({ id, accountId, keyId }: OpenImport): Promise<void> {
    const { store, clock, stopping } = this.#deps
    await store.revokeKey({ accountId, keyId, revokedAt: clock.now() })
    if (this.#open.delete(id)) this.#places.giveBack(accountId)
    if (this.#open.size > 0) return
    clearInterval(this.#checking)
    stopping.removeEventListener('abort', this.#endAll)
  }

  async #makeRoom(accountId: string): Promise<void> {
    if (!this.#places.areTaken(accountId)) return
    const before = this.#deps.clock.now() - IDLE_MS
    const idle = [...this.#open.values()].find(
      (one) => one.accountId === accountId && one.usedAt <= before,
    )
    if (idle !== undefined) await this.end(idle)
    if (this.#places.areTaken(accountId)) throw new ApiError('CONFLICT', TOO_MANY)
  }

  /** Ends the imports whose sessions or time have ended. */
  readonly #check = (): void => {
    const { logger } = this.#deps
    for (const one of this.#open.values()) {
      this.#endIfOver(one).catch((error: unknown) => {
        logger.debug({ err: error, keyId: one.keyId }, 'could not check the session of an import')
      })
    }
  }

  async #endIfOver(one: OpenImport): Promise<void> {
    const { store, clock } = this.#deps
    const { session, account } = (await store.findSession(one.sessionHash)) ?? {}
    const now = clock.now()
    const goesOn = session !== undefined && isSessionInForce(session, now)
    if (!goesOn || account?.suspended === true || one.expiresAt <= now) await this.end(one)
  }

  readonly #endAll = (): void => {
    for (const one of this.#open.values()) {
      this.end(one).catch((error: unknown) => {
        this.#deps.logger.warn(
          { err: error, keyId: one.keyId },
          'could not revoke the key of an import',
        )
      })
    }
  }
}
