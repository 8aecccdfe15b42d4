import { includes } from '../../event-log/offsets.ts'
import { lastEntry, writeMark, type ReaderPosition } from '../../event-log/follow/mark.ts'
import type { Wanted } from '../../event-log/follow/past.ts'
import type { GapReason, RingEntry } from '../../event-log/follow/ring.ts'
import type { Metrics } from '../../runtime/process/metrics.ts'
import type { ErasureEntry, PositionEntry } from '../../schemas/events/log-entry.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'
import { eventFrame, type ChosenEvent, type StreamEventName } from './sse.ts'

/** The entries that a reader is shown, and how. */
export type Showing = {
  readonly accountId: string
  readonly events: ReadonlySet<ChosenEvent>
  /** Whether the entry is for this reader; some rejections name no device. */
  wants(subject: { readonly accountId: string; readonly deviceId?: string }): boolean
  /** Whether a position of the reader's devices is shown to it. */
  isShown(event: PositionReported): boolean
  /** The data of a position. */
  record(event: PositionReported): object
  /** Whether events carry marks of the log, from which it can resume. */
  readonly resumable: boolean
}

/** Renders what one reader is shown, and counts the events. */
export type ReaderFrames = {
  readonly wanted: Wanted
  /** The id from which the reader can resume, if it can. */
  readonly idAt: (place: ReaderPosition) => string | undefined
  /** An entry that the reader wants. `after`: the place after it. */
  entry(entry: PositionEntry | ErasureEntry, after: ReaderPosition): string
  /**
   * The ring's entry with this number, and moves `at` behind it; empty for an entry that the reader has had or does
   * not want. `isInStep`: the reader is where the feed is, so that its frame can be shared.
   */
  ringEntry(entry: RingEntry, number: number, at: ReaderPosition, isInStep: boolean): string
  gap(reason: GapReason): string
  /** Asks the client to connect again, because too many entries have come. */
  lagging(id?: string): string
}

/** @param joined ring entries before this one are older than the reader: only those from the log are replayed. */
export function readerFrames({
  showing,
  joined,
  metrics,
}: {
  showing: Showing
  joined: number
  metrics: Metrics
}): ReaderFrames {
  const { resumable } = showing
  const events: ReadonlySet<string> = showing.events
  const wants = (name: string, subject: Parameters<Showing['wants']>[0]) =>
    events.has(name) && showing.wants(subject)
  const wanted: Wanted = {
    // History is no news.
    position: (event) =>
      event.imported !== true && wants('position', event) && showing.isShown(event),
    erasure: (event) => wants('device-erased', event),
  }
  return {
    wanted,
    idAt,
    entry: textOf,
    ringEntry,
    gap,
    lagging: (id) => frame('lagging', COME_AGAIN, id),
  }

  function idAt(place: ReaderPosition): string | undefined {
    return resumable ? writeMark(place) : undefined
  }

  function ringEntry(
    entry: RingEntry,
    number: number,
    at: ReaderPosition,
    isInStep: boolean,
  ): string {
    if (entry.kind === 'aside') {
      if (number < joined || !wants(entry.name, entry)) return ''
      metrics.streamEvents.inc({ event: entry.name })
      return entry.text
    }
    if (entry.origin === undefined) {
      return entry.kind === 'gap' && number >= joined ? gap(entry.reason) : ''
    }
    if (entry.kind === 'gap') {
      const { partition, offset } = entry.origin
      if (entry.isBack !== true && includes(at.offsets, entry.origin)) return ''
      if (offset < 0) delete at.offsets[partition]
      else at.offsets[partition] = offset
      if (entry.isBack === true) at.last = undefined
      return gap(entry.reason)
    }
    if (includes(at.offsets, entry.origin)) return ''
    at.offsets[entry.origin.partition] = entry.origin.offset
    if (entry.kind !== 'erased') at.last = lastEntry(entry)
    if (entry.kind === 'erasure') return wanted.erasure(entry.event) ? textOf(entry, at) : ''
    if (entry.kind !== 'position' || !wanted.position(entry.event)) return ''
    if (!isInStep || !resumable) return textOf(entry, at)
    if (entry.text === undefined) entry.text = textOf(entry, at)
    else metrics.streamEvents.inc({ event: 'position' })
    return entry.text
  }

  function textOf(entry: PositionEntry | ErasureEntry, after: ReaderPosition): string {
    if (entry.kind === 'position') {
      return frame('position', JSON.stringify(showing.record(entry.event)), idAt(after))
    }
    const { deviceId } = entry.event
    return frame('device-erased', JSON.stringify({ deviceId }), idAt(after))
  }

  function gap(reason: GapReason): string {
    return frame('gap', GAPS[reason])
  }

  function frame(event: StreamEventName, json: string, id?: string): string {
    metrics.streamEvents.inc({ event })
    return eventFrame(event, json, id)
  }
}

const GAPS = {
  expired: JSON.stringify({
    reason:
      'events after the Last-Event-ID are no longer in the log, or it is another log: what there is follows',
  }),
  unreadable: JSON.stringify({ reason: 'there are events that cannot be read: others follow' }),
}
const COME_AGAIN = JSON.stringify({
  reason: 'too much has come to be sent on this connection: connect again with the last id',
})
