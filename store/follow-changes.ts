import { endOfTurn } from '../runtime/end-of-turn.ts'
import type { Clock } from '../runtime/clock.ts'
import type { ChangedDefinition, ChangesQuery, ChangesPage } from './definitions.ts'

/**
 * Numbers are not always visible in their order: a change may appear behind one with a higher number that was seen up
 * to this long before.
 */
const OVERLAP_MS = 60_000
/** As many numbers are read again during the first minute: no more are given to writes at the same time. */
const OVERLAP = 10_000
/**
 * Everything is read again after this long: deletions are known for a day, and the machine may have slept, its clock
 * may have jumped, or the writer of a change may have ended before it could number it once more.
 */
const WHOLE_EVERY_MS = 12 * 3_600_000

/** Follows all definitions of one kind, by the numbers that the store gives to changes. */
export class ChangesFollower<Definition> {
  readonly #read: (query: ChangesQuery) => Promise<ChangesPage<Definition>>
  readonly #clock: Clock
  /** The version of each definition, deleted ones within the overlap included. */
  readonly #known = new Map<string, number>()
  /** The highest number at the end of each reading within the overlap, and of the last one before it. */
  #marks: { readonly at: number; readonly version: number }[] = []
  #wholeAt = -Infinity

  constructor(
    read: (query: ChangesQuery) => Promise<ChangesPage<Definition>>,
    { clock }: { readonly clock: Clock },
  ) {
    this.#read = read
    this.#clock = clock
  }

  /**
   * The changes since the last call, part by part; at first, all definitions. What the caller knows is never emptied:
   * where everything is read again, only the differences are given, deleted ones last.
   */
  async *changes(): AsyncGenerator<readonly ChangedDefinition<Definition>[], void> {
    const now = this.#clock.now()
    const last = this.#marks.at(-1)
    const isWhole = now - this.#wholeAt >= WHOLE_EVERY_MS || now < (last?.at ?? -Infinity)
    const seen = isWhole ? new Set<string>() : undefined
    let after = isWhole ? 0 : (this.#marks[0]?.version ?? 0)
    const isKnown = (id: string, version: number) => {
      seen?.add(id)
      return (this.#known.get(id) ?? 0) >= version
    }
    for (;;) {
      const page = await this.#read({ after, isKnown })
      if (page.changes.length > 0) yield page.changes
      for (const { id, version } of page.changes) {
        this.#known.set(id, version)
        seen?.add(id)
      }
      after = Math.max(after, page.last)
      if (page.isEnd) break
      await endOfTurn()
    }
    if (seen !== undefined) {
      const gone = [...this.#known.keys()].filter((id) => !seen.has(id))
      if (gone.length > 0) yield gone.map((id) => ({ id, version: Infinity, changedAt: now }))
      for (const id of gone) this.#known.delete(id)
      this.#wholeAt = now
      this.#marks = [{ at: -Infinity, version: Math.max(0, after - OVERLAP) }]
    }
    this.#mark(Math.max(after, seen === undefined ? (last?.version ?? 0) : 0))
  }

  #mark(version: number): void {
    const at = this.#clock.now()
    this.#marks.push({ at, version })
    const settled = this.#marks.findLastIndex((mark) => mark.at <= at - OVERLAP_MS)
    if (settled > 0) this.#marks.splice(0, settled)
  }
}
