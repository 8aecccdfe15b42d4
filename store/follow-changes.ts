import { endOfTurn } from '../runtime/end-of-turn.ts'
import type { Clock } from '../runtime/clock.ts'
import type { ChangedDefinition, ChangesQuery, ChangesPage } from './definitions.ts'

/**
 * Versions do not always become visible in order: a change may appear this long after one with a
 * higher version.
 */
const OVERLAP_MS = 60_000
/**
 * Number of versions read again during the first minute: concurrent writes never have more versions
 * outstanding.
 */
const OVERLAP = 10_000
/**
 * Everything is read again after this long: deletions are remembered for a day, and the machine may
 * have slept, its clock may have jumped, or the writer of a change may have ended before it could
 * renumber it.
 */
const WHOLE_EVERY_MS = 12 * 3_600_000

/** Follows all definitions of one kind, by the versions that the store assigns to changes. */
export class ChangesFollower<Definition> {
  readonly #read: (query: ChangesQuery) => Promise<ChangesPage<Definition>>
  readonly #clock: Clock
  /** The version of each definition, including deleted ones within the overlap. */
  readonly #known = new Map<string, number>()
  /**
   * The highest version at the end of each read within the overlap, and of the last read before it.
   */
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
   * The changes since the last call, part by part; at first, all definitions. The caller never has
   * to start empty: when everything is read again, only the differences are returned, deleted
   * definitions last.
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
