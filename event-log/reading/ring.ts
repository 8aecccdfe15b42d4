import type { DeviceErased } from '../../schemas/events/device-erased.ts'
import type { ErasureEntry, FactEntry, PositionEntry } from '../../schemas/events/log-entry.ts'
import type { Origin } from '../../schemas/devices/read-models.ts'
import type { UnreadableEntry } from '../event-log.ts'
import type { LogPlace } from '../offsets.ts'

/** The entries for readers, in the order in which this process learned of them. */
export type RingEntry =
  | (PositionEntry & {
      /** The rendered text, shared by all up-to-date readers. */
      text?: string
    })
  | Aside
  | FactEntry
  | ErasureEntry
  /**
   * Retention has overtaken the feed, or the feed cannot read an entry or, without an origin, any
   * later entry.
   */
  | {
      readonly kind: 'gap'
      readonly reason: GapReason
      readonly origin?: Origin
      /**
       * Whether the gap leads back before readers' positions, because the partition was recreated.
       */
      readonly isBack?: boolean
    }
  | { readonly kind: 'erased'; readonly origin?: Origin }

export type GapReason = 'expired' | 'unreadable'

/** An entry that is not from the log, so it has no position in it and is not replayed. */
export type Aside = {
  readonly kind: 'aside'
  /** The event name that readers filter by. */
  readonly name: string
  readonly accountId: string
  readonly deviceId?: string
  readonly text: string
  /** Whether an erasure of the device removes it. */
  readonly isErasable: boolean
}

/** Approximate size of an entry apart from its texts. */
const OVERHEAD_BYTES = 1_500

/**
 * The last entries, as many as fit, numbered in ascending order. Readers are cursors into the ring:
 * a reader that requests a number before `first` is too late.
 */
export type Ring = {
  readonly first: number
  /** The number of the next entry. */
  readonly end: number
  /** The log position before the first entry; the ring holds nothing at or before it. */
  readonly before: Readonly<LogPlace>
  push(entry: RingEntry): void
  at(number: number): RingEntry | undefined
  /** Removes a device's entries that are covered by an erasure. */
  erase(device: ErasedDevice): void
  /**
   * Wakes readers waiting for anything, and readers waiting for an account with newly pushed
   * entries; after a gap, all. So each entry is examined only by readers of its account, however
   * many wait.
   */
  wake(): void
} & Waits

/** Options for waiting for more entries. */
export type Waits = {
  /** Waits for entries of one account, or for any. The returned function unsubscribes. */
  readonly listen: (wake: Wake, accountId?: string) => () => void
  /**
   * Resolves when the condition is true or the wait ends. The condition is checked at each wake.
   */
  readonly until: (isTrue: () => boolean, patience: Patience) => Promise<void>
}

type Patience = {
  readonly signal: AbortSignal
  readonly forMs?: number
  readonly accountId?: string
}
type Wake = () => void

export type ErasedDevice = Omit<DeviceErased, 'eventId'> & { readonly origin: Origin }

export function createRing({
  before,
  maxEntries,
  maxBytes,
}: {
  before: LogPlace
  maxEntries: number
  maxBytes: number
}): Ring {
  const slots = new Array<RingEntry | undefined>(maxEntries)
  const at = (number: number) => slots[number % maxEntries]
  let first = 0
  let end = 0
  let bytes = 0
  /** Listeners by account; entries without an account go to all of them. */
  const listeners = new Map<string | undefined, Set<Wake>>()
  /** The accounts that have new entries; `gap`: all accounts. */
  const news = new Set<string | undefined>()
  let gap = false

  function dropFirst(): void {
    const entry = at(first)
    slots[first % maxEntries] = undefined
    first += 1
    if (entry === undefined) return
    bytes -= approximateBytes(entry)
    if ('origin' in entry && entry.origin !== undefined) {
      before[entry.origin.partition] = entry.origin.offset
    }
  }

  function listen(wake: Wake, accountId?: string): () => void {
    const own = listeners.get(accountId) ?? new Set()
    listeners.set(accountId, own.add(wake))
    return () => {
      own.delete(wake)
      if (own.size === 0 && listeners.get(accountId) === own) listeners.delete(accountId)
    }
  }

  async function waitUntil(
    isTrue: () => boolean,
    { signal, forMs, accountId }: Patience,
  ): Promise<void> {
    if (signal.aborted || isTrue()) return
    await new Promise<void>((resolve) => {
      const stopListening = listen(() => isTrue() && finish(), accountId)
      const timer = forMs === undefined ? undefined : setTimeout(finish, forMs)
      signal.addEventListener('abort', finish)
      function finish(): void {
        stopListening()
        clearTimeout(timer)
        signal.removeEventListener('abort', finish)
        resolve()
      }
    })
  }

  return {
    listen,
    until: waitUntil,

    get first() {
      return first
    },
    get end() {
      return end
    },
    before,

    push(entry) {
      const size = approximateBytes(entry)
      while (first < end && (end - first >= maxEntries || bytes + size > maxBytes)) dropFirst()
      slots[end % maxEntries] = entry
      bytes += size
      end += 1
      if (entry.kind === 'gap') gap = true
      else if ('event' in entry) news.add(entry.event.accountId)
    },

    wake() {
      const woken = gap ? [...listeners.keys()] : [undefined, ...news]
      gap = false
      news.clear()
      for (const accountId of woken)
        for (const wake of [...(listeners.get(accountId) ?? [])]) wake()
    },

    at: (number) => (number >= first && number < end ? at(number) : undefined),

    erase(device) {
      for (let number = first; number < end; number += 1) {
        const entry = at(number)
        if (entry === undefined || !isTakenBy(device, entry)) continue
        const left: RingEntry =
          'origin' in entry && entry.origin !== undefined
            ? { kind: 'erased', origin: entry.origin }
            : { kind: 'erased' }
        bytes += approximateBytes(left) - approximateBytes(entry)
        slots[number % maxEntries] = left
      }
    },
  }
}

function isTakenBy(device: ErasedDevice, entry: RingEntry): boolean {
  if (entry.kind === 'aside') {
    const { isErasable, accountId, deviceId } = entry
    return isErasable && accountId === device.accountId && deviceId === device.deviceId
  }
  // Readers of facts ask the store which facts remain.
  if (entry.kind !== 'position') return false
  const { event, origin } = entry
  if (event.accountId !== device.accountId || event.deviceId !== device.deviceId) return false
  // Reports from before the topic got more partitions are in another partition.
  return origin.partition === device.origin.partition || event.receivedAt <= device.erasedAt
}

/**
 * A conservative estimate, including a position's text, that stays constant while the entry is in
 * the ring.
 */
export function approximateBytes(entry: RingEntry | 'other'): number {
  if (entry === 'other') return OVERHEAD_BYTES
  switch (entry.kind) {
    case 'position': {
      const { accountId, keyId, deviceId, recordId } = entry.event
      const texts = accountId.length + keyId.length + recordId.length + 3 * deviceId.length
      return OVERHEAD_BYTES + 2 * texts
    }
    case 'fact':
      return OVERHEAD_BYTES + 2 * JSON.stringify(entry.event).length
    case 'aside':
      return OVERHEAD_BYTES + 2 * (entry.text.length + (entry.deviceId ?? '').length)
    case 'erasure':
    case 'gap':
    case 'erased':
      return OVERHEAD_BYTES
  }
}

/**
 * Reports unreadable entries to readers and logs them: the first immediately, later ones every
 * `everyMs`, because clients list everything again after a gap.
 */
export function unreadableEntries({
  everyMs,
  push,
  logger,
  signal,
}: {
  everyMs: number
  push: (gap: RingEntry) => void
  logger: { warn(fields: object, message: string): void }
  signal: AbortSignal
}): (entry: UnreadableEntry) => void {
  let count = 0
  let waiting: NodeJS.Timeout | undefined
  let last: UnreadableEntry | undefined
  signal.addEventListener('abort', () => clearTimeout(waiting))

  function report(): void {
    waiting = undefined
    if (last === undefined) return
    const { reason, origin } = last
    logger.warn({ count, reason, origin }, 'live stream skipped unreadable entries')
    count = 0
    last = undefined
    waiting = setTimeout(() => {
      const more = last !== undefined
      report()
      if (more) push({ kind: 'gap', reason: 'unreadable' })
    }, everyMs).unref()
  }

  return function unreadable(entry) {
    count += 1
    last = entry
    if (waiting !== undefined) return
    push({ kind: 'gap', reason: 'unreadable', origin: entry.origin })
    report()
  }
}
