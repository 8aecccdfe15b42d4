import type { LogReader, ReadEntry, Wants } from '../../event-log/reading/log-reader.ts'
import { writeMark, type ReaderPosition } from '../../event-log/reading/mark.ts'
import type { GapReason, RingEntry } from '../../event-log/reading/ring.ts'
import type { Metrics } from '../../runtime/process/metrics.ts'
import type { PositionReported } from '../../schemas/events/position-reported.ts'

/** The events that readers choose from, and the default choice. */
export const CHOSEN_EVENTS = [
  'position',
  'device-status',
  'fact',
  'fact-handling',
  'rejection',
  'device-erased',
] as const
export type ChosenEvent = (typeof CHOSEN_EVENTS)[number]
export const USUAL_EVENTS: ReadonlySet<ChosenEvent> = new Set(['position', 'device-status'])

export type StreamEventName = ChosenEvent | 'gap' | 'lagging' | 'heartbeat'

/** The entries sent to a reader, and their form. */
export type Showing = {
  readonly accountId: string
  readonly events: ReadonlySet<ChosenEvent>
  /** Whether this reader receives the entry; some rejections name no device. */
  wants(subject: { readonly accountId: string; readonly deviceId?: string }): boolean
  /** Whether a position of the reader's devices is sent to it. */
  isShown(event: PositionReported): boolean
  /** The data of a position. */
  record(event: PositionReported): object
  /** Whether events carry marks of the log, from which it can resume. */
  readonly resumable: boolean
}

/** Renders the output of one reader, and counts the events. */
export type ReaderFrames = {
  readonly wants: Wants
  /** The id from which the reader can resume, if it can. */
  readonly idAt: (place: ReaderPosition) => string | undefined
  /** An entry of the past that the reader has taken. */
  past(entry: ReadEntry, reader: LogReader): string
  /** Renders an entry from the ring; empty if it is not for this reader. */
  live(entry: RingEntry, reader: LogReader): string
  gap(reason: GapReason): string
  /** Asks the client to reconnect, because too many entries have arrived. */
  lagging(id?: string): string
}

/**
 * @param joined ring entries before this number are older than the reader: only those from the log
 * are replayed.
 */
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
  const writeIdAt = (place: ReaderPosition) => (resumable ? writeMark(place) : undefined)

  function wants(entry: ReadEntry): boolean {
    if (entry.kind === 'erasure') return events.has('device-erased') && showing.wants(entry.event)
    if (entry.kind !== 'position') return false
    return events.has('position') && showing.wants(entry.event) && showing.isShown(entry.event)
  }

  function live(entry: RingEntry, reader: LogReader): string {
    switch (entry.kind) {
      case 'aside': {
        const isOwn = !isOlder(reader) && events.has(entry.name) && showing.wants(entry)
        return isOwn ? countFrame(entry.name, entry.text) : ''
      }
      case 'gap':
        return entry.origin === undefined && isOlder(reader) ? '' : gap(entry.reason)
      case 'position':
        if (!reader.isInStep || !resumable) return writePastEntry(entry, reader)
        if (entry.text === undefined) return (entry.text = writePastEntry(entry, reader))
        return countFrame('position', entry.text)
      case 'erasure':
        return writePastEntry(entry, reader)
      case 'fact':
      case 'erased':
        return ''
    }
  }

  /** Whether the entry just taken was in the ring before the reader joined. */
  function isOlder(reader: LogReader): boolean {
    return reader.next <= joined
  }

  function writePastEntry(entry: ReadEntry, { place }: LogReader): string {
    if (entry.kind === 'position') {
      return frame('position', JSON.stringify(showing.record(entry.event)), writeIdAt(place))
    }
    const { deviceId } = entry.event
    return frame('device-erased', JSON.stringify({ deviceId }), writeIdAt(place))
  }

  function gap(reason: GapReason): string {
    return frame('gap', GAPS[reason])
  }

  function frame(event: StreamEventName, json: string, id?: string): string {
    return countFrame(event, eventFrame(event, json, id))
  }

  function countFrame(event: string, text: string): string {
    metrics.streamEvents.inc({ event })
    return text
  }

  return {
    wants,
    idAt: writeIdAt,
    past: writePastEntry,
    live,
    gap,
    lagging: (id) => frame('lagging', COME_AGAIN, id),
  }
}

const GAPS = {
  expired: JSON.stringify({
    reason:
      'log entries after the Last-Event-ID are gone, or the log is another one: the available ones follow',
  }),
  unreadable: JSON.stringify({ reason: 'some log entries cannot be read: others follow' }),
}
const COME_AGAIN = JSON.stringify({
  reason: 'this connection is too slow: reconnect with the last id',
})

/** The client's reconnection delay in milliseconds. */
const RETRY_MS = 2_000

/** The first bytes of a stream (WHATWG HTML section 9.2): the reconnection delay. */
export function retryLine(): string {
  return `retry: ${RETRY_MS}\n\n`
}

/** An event with JSON data, which contains no line breaks. */
export function eventFrame(event: StreamEventName, json: string, id?: string): string {
  return `event: ${event}\n${idLine(id)}data: ${json}\n\n`
}

/**
 * Keeps proxies from closing a quiet stream, and advances the client's last id. It is an event with
 * data, because clients discard the id of a comment.
 */
export function heartbeatFrame(id?: string): string {
  return eventFrame('heartbeat', '{}', id)
}

function idLine(id: string | undefined): string {
  return id === undefined ? '' : `id: ${id}\n`
}
