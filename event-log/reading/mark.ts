import { setTimeout as pause } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Offsets, Origin } from '../../schemas/devices/read-models.ts'
import type { Extent, FollowedEntry, ReadableLog } from '../event-log.ts'
import { hasReached, lowerOffsets, type LogPlace } from '../offsets.ts'
import type { Ring, Waits } from './ring.ts'

/** A reader's current position, and the last entry it has passed. */
export type ReaderPosition = { readonly offsets: LogPlace; last?: LastEntry | undefined }

/** The log that a mark refers to; the stream and the feed of positions read the event log. */
export type MarkedLog = 'events' | 'facts'

/**
 * Where an entry is, and when it was received. Another log, or one restored from a backup, has a
 * different entry there.
 */
export type LastEntry = Origin & { readonly time: number }

const MOST_PARTITIONS = 1_000
/** A longer mark does not fit in a request's headers. */
const LONGEST = 12_000
/**
 * In milliseconds: 4.7 hours. Enough to tell entries apart without revealing the full times of
 * other accounts' entries.
 */
const TIMES = 2 ** 24

/** Returns an entry's position and time; undefined if it has no time. */
export function lastEntry(entry: FollowedEntry): LastEntry | undefined {
  switch (entry.kind) {
    case 'position':
    case 'seen':
      return { ...entry.origin, time: entry.event.receivedAt % TIMES }
    case 'fact':
      return { ...entry.origin, time: entry.event.decidedAt % TIMES }
    case 'erasure':
      return { ...entry.origin, time: entry.event.erasedAt % TIMES }
    case 'unknown':
    case 'unreadable':
      return undefined
  }
}

/** A position in the whole log as an id for readers: opaque, but not secret. */
export function writeMark(
  { offsets, last }: { offsets: Offsets; last?: LastEntry | undefined },
  log: MarkedLog = 'events',
): string {
  const place = JSON.stringify(offsets)
  const parts = [
    ...(log === 'events' ? [] : [`"log":"${log}"`]),
    `"offsets":${place}`,
    ...(last === undefined ? [] : [`"last":[${last.partition},${last.offset},${last.time}]`]),
  ]
  const content = parts.join(',')
  // Earlier versions also wrote marks without a last entry in this form.
  const check = crc32(parts.length === 1 ? place : content).toString(36)
  return Buffer.from(`{"v":1,"check":"${check}",${content}}`).toString('base64url')
}

/**
 * The position in a mark of this log; undefined if invalid. The checksum detects mistakes, not
 * forgery, so the content is validated like any input.
 */
export function readMark(mark: string, log: MarkedLog = 'events'): ReaderPosition | undefined {
  if (mark.length > LONGEST) return undefined
  const claimed = parseClaim(Buffer.from(mark, 'base64url').toString())
  if (claimed === undefined) return undefined
  const entries = Object.entries(claimed.offsets)
  const fits =
    entries.length <= MOST_PARTITIONS &&
    entries.every(([partition, offset]) => /^(0|[1-9]\d{0,4})$/.test(partition) && isWhole(offset))
  if (!fits) return undefined
  const offsets: LogPlace = Object.fromEntries<number>(entries)
  const position = claimed.last === undefined ? { offsets } : markWithLast(offsets, claimed.last)
  return position !== undefined && writeMark(position, log) === mark ? position : undefined
}

function markWithLast(offsets: LogPlace, last: unknown): ReaderPosition | undefined {
  if (!Array.isArray(last) || last.length !== 3 || !last.every(isWhole)) return undefined
  const [partition, offset, time] = last as [number, number, number]
  return { offsets, last: { partition, offset, time } }
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

type Claimed = { readonly offsets: Readonly<Record<string, number>>; readonly last?: unknown }

/** The claimed content, not yet validated. */
function parseClaim(text: string): Claimed | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('offsets' in value)) return undefined
    const { offsets } = value
    return typeof offsets === 'object' && offsets !== null ? (value as Claimed) : undefined
  } catch {
    return undefined
  }
}

const MARKS_REMEMBERED = 10_000
/** Marks of many partitions are long. */
const MARKS_REMEMBERED_LENGTH = 4_000_000

/**
 * The marks of a feed. For marks written by this process, it remembers what a returning reader
 * would otherwise have to look up.
 */
export function feedMarks(marked: MarkedLog) {
  /** The last entries before the marks: they need not be looked up in the log. */
  const known = new LRUCache<string, number>({ max: MARKS_REMEMBERED })
  const places = new LRUCache<string, PlaceInRing>({
    max: MARKS_REMEMBERED,
    maxSize: MARKS_REMEMBERED_LENGTH,
    sizeCalculation: (_place, text) => text.length,
  })

  return {
    write(place: Readonly<ReaderPosition>, inRing?: PlaceInRing): string {
      if (place.last !== undefined) known.set(nameOf(place.last), place.last.time)
      const text = writeMark(place, marked)
      if (inRing !== undefined) places.set(text, inRing)
      return text
    },

    read: (text: string) => readMark(text, marked),

    /** Whether a mark written here ends with this entry. */
    isKnown: (last: LastEntry): boolean => known.get(nameOf(last)) === last.time,

    /** The ring's entries before this number lie before the mark; 0 if that is not known. */
    numberAfter(text: string, ring: object): number {
      const place = places.get(text)
      return place?.ring === ring ? place.next : 0
    },
  }
}

/** The ring number of the first entry after a mark. */
type PlaceInRing = { readonly ring: object; readonly next: number }

function nameOf({ partition, offset }: LastEntry): string {
  return `${partition}/${offset}`
}

/** Dependencies for finding a position in the log. */
export type Looking = {
  /** The live reader of the log. */
  readonly feed: Waits & {
    readonly isCaughtUp: () => boolean
    readonly ring: Pick<Ring, 'before'>
    timeAt(origin: Origin): number | undefined
    end(): LogPlace
  }
  readonly log: Pick<ReadableLog, 'tail' | 'extent'>
  readonly retryMs: number
  /** Called only if the live reader does not know. */
  readonly ending: () => AbortSignal
  readonly logger: { warn(fields: object, message: string): void }
}

/**
 * The position where a reader with a mark continues. If it is beyond the end, the mark belongs to
 * another log, and the reader must not skip new entries. If a different entry is now where the
 * reader's last one was, the log was restored from a backup; where the two logs diverge is unknown,
 * so the reader gets everything available.
 */
export async function findPlace(
  claimed: ReaderPosition,
  looking: Looking,
  isKnown: (last: LastEntry) => boolean = () => false,
): Promise<{ readonly place: ReaderPosition; readonly lost?: 'beyond' | 'replaced' }> {
  const { feed } = looking
  const offsets = hasReached(feed.end(), claimed.offsets)
    ? { ...claimed.offsets }
    : await askUntilAnswered(() => clampToEnd(claimed.offsets, looking), looking)
  if (offsets === undefined) return { place: claimed }
  if (!hasReached(offsets, claimed.offsets)) return { place: { offsets }, lost: 'beyond' }
  const { last } = claimed
  if (last !== undefined && !isKnown(last)) {
    // The feed has then most probably read the entry itself.
    if (!feed.isCaughtUp()) await feed.until(feed.isCaughtUp, { signal: looking.ending() })
    const known = feed.timeAt(last)
    const time = known ?? (await askUntilAnswered(() => timeInLog(last, looking), looking))
    if (time !== undefined && time !== 'removed' && time !== last.time) {
      return { place: { offsets: { ...feed.ring.before } }, lost: 'replaced' }
    }
  }
  return { place: { offsets, last } }
}

/** Repeats a query until the log responds; undefined if the reader has ended. */
async function askUntilAnswered<T>(
  ask: () => Promise<T>,
  { retryMs, ending, logger }: Looking,
): Promise<T | undefined> {
  const signal = ending()
  while (!signal.aborted) {
    try {
      return await ask()
    } catch (error) {
      logger.warn({ err: error }, 'reader could not read the log; retrying')
      await pause(retryMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  return undefined
}

/** Another process's feed may be ahead of this process's feed. */
async function clampToEnd(place: LogPlace, { feed, log }: Looking): Promise<LogPlace> {
  if (hasReached(feed.end(), place)) return { ...place }
  return lowerOffsets(place, listEnds(await log.extent()))
}

/**
 * The time of the entry at this position: 'none' for an entry without a time, 'removed' if
 * retention has passed it.
 */
async function timeInLog(
  { partition, offset }: Origin,
  { log, ending: ended }: Looking,
): Promise<number | 'removed' | 'none'> {
  const extent = await log.extent()
  const own = extent.find((one) => one.partition === partition)
  if (own === undefined || offset >= own.next) return 'none'
  if (offset < own.first) return 'removed'
  const ending = new AbortController()
  const signal = AbortSignal.any([ended(), ending.signal])
  try {
    const after = { ...listEnds(extent), [partition]: offset - 1 }
    for await (const item of log.tail({ after, signal })) {
      if (item.partition !== partition) continue
      if (item.kind === 'gap') return 'removed'
      const entry = item.entries.find(({ origin }) => origin.offset === offset)
      return (entry && lastEntry(entry)?.time) ?? 'none'
    }
  } finally {
    ending.abort()
  }
  return 'removed'
}

/** The last offset of each partition that has had entries. */
function listEnds(extent: readonly Extent[]): LogPlace {
  const written = extent.filter(({ next }) => next > 0)
  return Object.fromEntries(written.map(({ partition, next }) => [partition, next - 1]))
}
