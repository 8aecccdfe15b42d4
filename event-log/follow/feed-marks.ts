import { LRUCache } from 'lru-cache'
import { readMark, writeMark, type LastEntry, type MarkedLog, type ReaderPosition } from './mark.ts'
import type { Ring } from './ring.ts'

const MARKS_REMEMBERED = 10_000
/** Marks of many partitions are long. */
const MARKS_REMEMBERED_LENGTH = 4_000_000

/** The number in the ring of the first entry that is not behind a mark. */
type PlaceInRing = { readonly ring: Ring; readonly next: number }

/** The marks of a feed. Remembers of those written here what a reader that returns with one would have to look up. */
export function feedMarks(marked: MarkedLog) {
  /** The entries that the marks end with: they need not be looked for in the log. */
  const known = new LRUCache<string, number>({ max: MARKS_REMEMBERED })
  const numbers = new LRUCache<string, PlaceInRing>({
    max: MARKS_REMEMBERED,
    maxSize: MARKS_REMEMBERED_LENGTH,
    sizeCalculation: (_number, text) => text.length,
  })

  return {
    write(place: Readonly<ReaderPosition>, inRing?: PlaceInRing): string {
      if (place.last !== undefined) known.set(nameOf(place.last), place.last.time)
      const text = writeMark(place, marked)
      if (inRing !== undefined) numbers.set(text, inRing)
      return text
    },

    read: (text: string) => readMark(text, marked),

    /** Whether a mark written here ends with this entry. */
    isKnown: (last: LastEntry): boolean => known.get(nameOf(last)) === last.time,

    /** The ring's entries before this number are behind the mark; 0 if that is not known. */
    numberAfter(text: string, ring: Ring): number {
      const place = numbers.get(text)
      return place?.ring === ring ? place.next : 0
    },
  }
}

function nameOf({ partition, offset }: LastEntry): string {
  return `${partition}/${offset}`
}
