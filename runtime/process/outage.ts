import { DependencyError, reasonOf } from '../errors.ts'
import { kindOf, RepeatedLines } from './repeated-lines.ts'

const EVERY_MS = 60_000
/** For this long after an outage, calls that started before its end may still fail. */
const SETTLES_MS = 20_000
/** For this long after a failure, responses may belong to calls that started before it. */
const ANSWERS_LATE_MS = 2_000

type Line = (fields: object, message: string) => void

/** The part of a pino logger that adapters use. */
export type OutageLogger = {
  readonly debug: Line
  readonly info: Line
  readonly warn: Line
  readonly error: Line
}

/**
 * Logs the outage of a dependency: when it starts, once a minute, and when it is over. Failures
 * during an outage are logged at level debug only. Other failures of the dependency are logged once
 * a minute for each kind, and only after it has responded to another call that started later: without
 * a response they turn out to be an outage.
 */
export class Outage {
  readonly #dependency: string
  readonly #variable: string
  readonly #logger: OutageLogger
  readonly #now: () => number
  readonly #pending = new Map<string, { readonly since: number; readonly log: () => void }>()
  readonly #repeated: RepeatedLines
  #since: number | undefined
  #repeatedAt = 0
  #settledAt: number

  /** `variable`: the setting with the dependency's address. `now`: monotonic milliseconds. */
  constructor({
    dependency,
    variable,
    logger,
    now = () => performance.now(),
  }: {
    dependency: string
    variable: string
    logger: OutageLogger
    now?: () => number
  }) {
    this.#dependency = dependency
    this.#variable = variable
    this.#logger = logger
    this.#now = now
    this.#repeated = new RepeatedLines({ now })
    this.#settledAt = now() + SETTLES_MS
  }

  /** The dependency did not respond. `variable`: the setting that the error points to. */
  failed(error: unknown, { variable = this.#variable }: { variable?: string } = {}): void {
    const now = this.#now()
    this.#pending.clear()
    if (this.#since !== undefined && now - this.#repeatedAt < EVERY_MS) return
    this.#since ??= now
    this.#repeatedAt = now
    const fields = { variable, reason: reasonOf(error), ...this.#duration(now) }
    this.#logger.warn(fields, `${this.#dependency} is unavailable; retrying`)
  }

  /** The dependency responded to a call, even if with an error. */
  answered(): void {
    if (this.#since !== undefined) {
      const now = this.#now()
      const fields = { variable: this.#variable, ...this.#duration(now) }
      this.#logger.info(fields, `${this.#dependency} is available again`)
      this.#since = undefined
      this.#settledAt = now + SETTLES_MS
    }
    if (this.#pending.size > 0) this.#logPending()
  }

  /**
   * Marks an error of the dependency, so that loggers leave it to this outage. Returns the error.
   */
  mark<E>(error: E): E {
    if (error instanceof DependencyError && error.retriable) error.outage = this
    return error
  }

  /** An operation that needs the dependency failed. `log` may be called later, or never. */
  trouble(kind: string, log: () => void): void {
    const now = this.#now()
    if (this.#since !== undefined || now < this.#settledAt) return
    this.#pending.set(kind, { since: this.#pending.get(kind)?.since ?? now, log })
  }

  /** A logger for the adapter: its warnings about failures are left to this outage. */
  quietLogger(logger: OutageLogger): OutageLogger {
    return {
      debug: (fields, message) => logger.debug(fields, message),
      info: (fields, message) => logger.info(fields, message),
      error: (fields, message) => logger.error(fields, message),
      warn: (fields, message) => {
        if (!('err' in fields || 'namespace' in fields)) return logger.warn(fields, message)
        logger.debug(fields, message)
        this.trouble(kindOf(fields, message), () => logger.warn(fields, message))
      },
    }
  }

  #logPending(): void {
    const now = this.#now()
    for (const [kind, { since, log }] of this.#pending) {
      if (now - since < ANSWERS_LATE_MS) continue
      this.#pending.delete(kind)
      if (this.#repeated.admit(kind) !== undefined) log()
    }
  }

  #duration(now: number): { seconds?: number } {
    const seconds = Math.round((now - (this.#since ?? now)) / 1_000)
    return seconds === 0 ? {} : { seconds }
  }
}
