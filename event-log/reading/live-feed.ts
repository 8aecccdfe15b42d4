import { setTimeout as pause } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type {
  FollowedEntry,
  LogBatch,
  PositionEntry,
  ReadableLog,
  SeenEntry,
  TailGap,
  UnreadableEntry,
} from '../event-log.ts'
import { higherOffsets, hasReached, type LogPlace } from '../offsets.ts'
import { endOfTurn } from '../../runtime/end-of-turn.ts'
import type { AppendedEvent } from '../../schemas/events/appended-event.ts'
import { isWithdrawn } from '../../schemas/events/device-erased.ts'
import { deviceKey } from '../../schemas/events/position-reported.ts'
import type { Offsets, Origin } from '../../schemas/devices/read-models.ts'
import { lastEntry, type LastEntry } from './mark.ts'
import {
  createRing,
  unreadableEntries,
  type ErasedDevice,
  type Ring,
  type RingEntry,
  type Waits,
} from './ring.ts'

/** The single reader of a log that all live readers in this process share. */
export type LiveFeed = Waits & {
  /** Whether it knows its start offset, which it cannot while the log is unavailable. */
  readonly hasBegun: () => boolean
  /** Whether it has read everything that was in the log at its start, including erasures. */
  readonly isCaughtUp: () => boolean
  /** The ring; available once the feed has started. */
  readonly ring: Ring
  /** The feed's position, and the last entry read. */
  readonly upTo: Readonly<LogPlace>
  readonly last: LastEntry | undefined
  /** The time of an entry it has read, if it still remembers the entry. */
  timeAt(origin: Origin): number | undefined
  /** The end of the log as known here, where new readers start. */
  end(): LogPlace
  /** Whether the ring holds everything after this position. */
  holds(place: Readonly<LogPlace>): boolean
  /** The device's last erasure that the feed has read. */
  erasure(device: { accountId: string; deviceId: string }): ErasedDevice | undefined
  /** Latest heartbeats of devices; the ring contains no heartbeats. */
  heartbeats(): Iterable<SeenEntry>
  push(entry: RingEntry): void
}

/**
 * The erasures known to the store; `pending`: an erasure is not applied yet, and may not be in the
 * log yet.
 */
export type KnownErasures = {
  erasuresOf(query: {
    readonly accountId: string
    readonly deviceIds: readonly string[]
  }): Promise<
    ReadonlyMap<
      string,
      { readonly pending: boolean; readonly upTo: Offsets; readonly erasedAt: number }
    >
  >
}

/** The part of a logger that readers of the log use. */
export type FollowerLogger = Record<
  'debug' | 'warn' | 'error',
  (fields: object, message: string) => void
>

const ERASURES_REMEMBERED = 10_000
const HEARTBEATS_REMEMBERED = 10_000
const TIMES_REMEMBERED = 20_000
/** More than there are partitions, so that an offset and a partition combine into one number. */
const PARTITIONS = 100_000

/**
 * Reads the log until `signal` is aborted, starting shortly before its end, so that recently
 * disconnected clients can resume. `onReport` is called with positions and heartbeats once the feed
 * has caught up.
 */
export function startLiveFeed({
  eventLog,
  store,
  logger,
  signal,
  ringEntries,
  ringBytes,
  retryMs,
  unreadableEveryMs,
  onReport = () => undefined,
  onUnreadable = () => undefined,
}: {
  eventLog: Pick<ReadableLog, 'tail' | 'extent'>
  store: KnownErasures
  logger: FollowerLogger
  signal: AbortSignal
  ringEntries: number
  ringBytes: number
  retryMs: number
  unreadableEveryMs: number
  onReport?: (event: AppendedEvent, origin: Origin) => void
  onUnreadable?: (entry: UnreadableEntry) => void
}): LiveFeed {
  const upTo: LogPlace = {}
  const erasures = new LRUCache<string, ErasedDevice>({ max: ERASURES_REMEMBERED })
  const heartbeats = new LRUCache<string, SeenEntry>({ max: HEARTBEATS_REMEMBERED })
  const times = new LRUCache<number, number>({ max: TIMES_REMEMBERED })
  const unreadable = unreadableEntries({ everyMs: unreadableEveryMs, push, logger, signal })
  const before: LogPlace = {}
  const ring = createRing({ before, maxEntries: ringEntries, maxBytes: ringBytes })
  let endAtBegin: LogPlace = {}
  let last: LastEntry | undefined
  let caughtUp = false
  let begun = false

  run().catch((error: unknown) => logger.error({ err: error }, 'live stream failed'))
  return {
    listen: ring.listen,
    until: ring.until,
    hasBegun: () => begun,
    isCaughtUp: () => caughtUp,
    ring,
    upTo,
    get last() {
      return last
    },
    timeAt: (origin) => times.get(numberOf(origin)),
    end: () => higherOffsets(upTo, endAtBegin),
    holds: (place) => begun && hasReached(place, ring.before),
    erasure: (device) => erasures.get(deviceKey(device)),
    heartbeats: () => heartbeats.values(),
    push,
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        if (!begun) await begin()
        for await (const item of eventLog.tail({ after: { ...upTo }, signal })) {
          if (item.kind === 'batch') take(item, await erasedBefore(item))
          else pass(item)
          // Lets other work of this process run.
          await endOfTurn()
        }
      } catch (error) {
        if (!signal.aborted)
          logger.warn({ err: error }, 'live stream could not read the log; retrying')
      }
      await pause(retryMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  async function begin(): Promise<void> {
    const extent = await eventLog.extent()
    const share = Math.floor(ringEntries / 2 / Math.max(1, extent.length))
    for (const { partition, first, next } of extent) {
      const last = Math.max(first, next - share) - 1
      if (last >= 0) upTo[partition] = last
      if (next > 0) endAtBegin[partition] = next - 1
    }
    Object.assign(before, upTo)
    begun = true
    applyMove()
  }

  /**
   * Reads the erasure times of devices whose positions come from a spool: this feed may not have
   * read those erasures yet.
   */
  async function erasedBefore({ entries }: LogBatch<FollowedEntry>): Promise<Erased> {
    const times = new Map<string, number>()
    const spooled = entries.flatMap((entry) =>
      entry.kind === 'position' && entry.spooled === true ? [entry.event] : [],
    )
    for (const accountId of new Set(spooled.map((event) => event.accountId))) {
      const own = spooled.filter((event) => event.accountId === accountId)
      const deviceIds = [...new Set(own.map(({ deviceId }) => deviceId))]
      for (const [deviceId, { erasedAt }] of await store.erasuresOf({ accountId, deviceIds })) {
        times.set(deviceKey({ accountId, deviceId }), erasedAt)
      }
    }
    return times
  }

  function isShown(entry: PositionEntry, erased: Erased): boolean {
    const key = deviceKey(entry.event)
    const times = [erased.get(key) ?? 0, erasures.get(key)?.erasedAt ?? 0]
    return !isWithdrawn(entry, Math.max(...times))
  }

  function take({ partition, lastOffset, entries }: LogBatch<FollowedEntry>, erased: Erased): void {
    for (const entry of entries) {
      const { origin } = entry
      const read = lastEntry(entry)
      if (read !== undefined) {
        last = read
        times.set(numberOf(origin), read.time)
      }
      if (entry.kind === 'position') {
        if (!isShown(entry, erased)) continue
        // An import of years would push everything live out of the ring.
        if (entry.event.imported !== true) {
          ring.push({ kind: 'position', origin, event: entry.event })
        }
        if (caughtUp) onReport(entry.event, origin)
      } else if (entry.kind === 'seen') {
        heartbeats.set(deviceKey(entry.event), entry)
        if (caughtUp) onReport(entry.event, origin)
      } else if (entry.kind === 'fact') {
        ring.push(entry)
      } else if (entry.kind === 'erasure') {
        const device = { ...entry.event, origin }
        ring.erase(device)
        ring.push(entry)
        erasures.set(deviceKey(device), device)
      } else if (entry.kind === 'unreadable') {
        onUnreadable(entry)
        unreadable(entry)
      }
    }
    upTo[partition] = lastOffset
    applyMove()
  }

  /** Continues after a gap. */
  function pass({ partition, after: offset }: TailGap): void {
    const isBack = offset < (upTo[partition] ?? -1)
    ring.push({ kind: 'gap', reason: 'expired', origin: { partition, offset }, isBack })
    if (offset < 0) delete upTo[partition]
    else upTo[partition] = offset
    if (isBack) last = undefined
    applyMove()
  }

  function applyMove(): void {
    if (!caughtUp && hasReached(upTo, endAtBegin)) {
      caughtUp = true
      endAtBegin = {}
    }
    ring.wake()
  }

  function push(entry: RingEntry): void {
    ring.push(entry)
    ring.wake()
  }
}

/** Erasure times of devices, by device key. */
type Erased = ReadonlyMap<string, number>

function numberOf({ partition, offset }: Origin): number {
  return offset * PARTITIONS + partition
}
