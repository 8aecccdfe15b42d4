const MINUTE_MS = 60_000
/** Beyond this number, kinds are forgotten, and their count starts over. */
const MOST_KINDS = 1_000

type Minute = { readonly begun: number; lines: number; suppressed: number }

/** Limits how many lines of one kind are logged in a minute. */
export class RepeatedLines {
  readonly #minutes = new Map<string, Minute>()
  readonly #now: () => number

  /** `now`: monotonic milliseconds. */
  constructor({ now = () => performance.now() }: { now?: () => number } = {}) {
    this.#now = now
  }

  /**
   * Returns undefined if the line must not be logged, otherwise the number of suppressed lines of
   * its kind before it.
   */
  admit(kind: string, most = 1): { suppressed?: number } | undefined {
    const now = this.#now()
    const minute = this.#minutes.get(kind)
    if (minute !== undefined && now - minute.begun < MINUTE_MS) {
      minute.lines += 1
      if (minute.lines <= most) return {}
      minute.suppressed += 1
      return undefined
    }
    if (this.#minutes.size >= MOST_KINDS) this.#minutes.clear()
    this.#minutes.set(kind, { begun: now, lines: 1, suppressed: 0 })
    const suppressed = minute?.suppressed ?? 0
    return suppressed === 0 ? {} : { suppressed }
  }
}

/** Lines of one kind repeat each other. */
export function kindOf(fields: object, message: string): string {
  const { what, groupId, topic, namespace } = fields as Record<string, unknown>
  return [message, what, groupId, topic, namespace].map(String).join(' ')
}
