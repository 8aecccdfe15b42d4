import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeEach, test } from '@jest/globals'
import type { EventLog, LogBatch, LogEntry, TailItem } from '../../event-log/event-log.ts'
import { deviceKey, type PositionReported } from '../../schemas/events/position-reported.ts'
import type { Offsets } from '../../schemas/devices/read-models.ts'
import { positionReported, T0 } from '../samples.ts'
import type { OpenedEventLog, OpenEventLog } from './event-log-contract.ts'

/** A day after the samples start. */
export const NOW = T0 + 24 * 60 * 60 * 1000
/** An adapter may take seconds to join a group or to notice new entries. */
export const SOON = { withinMs: 30_000 }

/** The fixture of each test of the contract: an empty log, and groups that end with the test. */
export type OnALog = {
  readonly log: EventLog
  readonly opened: OpenedEventLog
  readonly consume: (from: EventLog, options?: Partial<ConsumerOptions>) => Consumer
  /**
   * The offset after which the group resumes once this consumer ends, and from which its lag is
   * measured.
   */
  readonly progressOf: (consumer: Consumer) => Partial<Pick<ConsumerOptions, 'resumeAfter'>>
  /** The log's warnings. */
  readonly warnings: readonly Warning[]
}

export type Warning = { readonly fields: object; readonly message: string }

export type EventLogSuite = {
  /** Runs a test with the timeout shared by all. */
  readonly promise: (sentence: string, check: (given: OnALog) => Promise<void>) => void
}

/**
 * Opens a log for each test that is defined with it, at `NOW`. The next test's is opened while one
 * runs: where a log is a set of topics that takes about half a second.
 */
export function eventLogSuite(open: OpenEventLog): EventLogSuite {
  let given: OnALog
  let next: Promise<OnALog> | undefined
  const consumers: Consumer[] = []

  beforeEach(async () => {
    given = await (next ?? openNext())
    next = openNext()
    // Callers that await it see the failure.
    next.catch(() => undefined)
  })

  afterEach(async () => {
    await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()))
    await given.opened.close()
  })

  afterAll(async () => {
    await (await next)?.opened.close()
  })

  return {
    promise(sentence, check) {
      test(sentence, () => check(given), 90_000)
    },
  }

  async function openNext(): Promise<OnALog> {
    const warnings: Warning[] = []
    const logger = {
      debug() {},
      info() {},
      error() {},
      warn: (fields: object, message: string) => void warnings.push({ fields, message }),
    }
    const opened = await open({ clock: { now: () => NOW }, logger })
    return {
      log: opened.log,
      opened,
      warnings,
      consume(from, options = {}) {
        const consumer = startConsumer(from, options)
        consumers.push(consumer)
        return consumer
      },
      progressOf: ({ batches }) =>
        opened.keepsOffsets
          ? {}
          : {
              resumeAfter: Object.fromEntries(
                batches.map(({ partition, lastOffset }) => [partition, lastOffset]),
              ),
            },
    }
  }
}

type ConsumerOptions = {
  readonly group: string
  readonly resumeAfter: Offsets
  /** Accepts or rejects a batch; without it, all are accepted. */
  readonly onBatch: (batch: LogBatch) => Promise<void>
  readonly signal: AbortSignal
}

type Consumer = {
  /** Every delivered batch, and those whose delivery resolved. */
  readonly attempts: readonly LogBatch[]
  readonly batches: readonly LogBatch[]
  entries(): LogEntry[]
  events(): PositionReported[]
  readonly ended: Promise<void>
  stop(): Promise<void>
}

function startConsumer(log: EventLog, options: Partial<ConsumerOptions>): Consumer {
  const { group = aGroup(), resumeAfter, onBatch, signal } = options
  const attempts: LogBatch[] = []
  const batches: LogBatch[] = []
  const stopping = new AbortController()
  const ended = log.subscribe({
    group,
    ...(resumeAfter !== undefined && { resumeAfter: () => Promise.resolve(resumeAfter) }),
    signal: signal ?? stopping.signal,
    async onBatch(batch) {
      attempts.push(batch)
      await onBatch?.(batch)
      batches.push(batch)
    },
  })
  const entries = () => batches.flatMap((batch) => batch.entries)
  return {
    attempts,
    batches,
    entries,
    events: () => entries().flatMap((entry) => (entry.kind === 'position' ? [entry.event] : [])),
    ended,
    stop() {
      stopping.abort()
      return ended
    },
  }
}

export function startTail(log: EventLog, after: Offsets | 'end') {
  const items: TailItem[] = []
  const stopping = new AbortController()
  const reading = (async () => {
    for await (const item of log.tail({ after, signal: stopping.signal })) items.push(item)
  })()
  return {
    items,
    events: () =>
      items
        .flatMap((item) => (item.kind === 'batch' ? item.entries : []))
        .flatMap((entry) => (entry.kind === 'position' ? [entry.event] : [])),
    stop() {
      stopping.abort()
      return reading
    },
  }
}

export function aGroup(): string {
  return `group-${randomUUID()}`
}

export function sample(deviceId = 'tracker-1'): PositionReported {
  return positionReported({ deviceId })
}

export function samples(count: number): PositionReported[] {
  return Array.from({ length: count }, () => sample())
}

export function recordId(entry: LogEntry): string | undefined {
  return entry.kind === 'position' ? entry.event.recordId : undefined
}

export function entryKey(entry: LogEntry): string | undefined {
  return entry.kind === 'position' ? deviceKey(entry.event) : undefined
}

export function originText({ origin }: LogEntry): string {
  return `${origin.partition}/${origin.offset}`
}

export function isRising(numbers: readonly number[]): boolean {
  return numbers.every((number, index) => index === 0 || number > numbers[index - 1]!)
}

/** Bytes as text: their arrays may be of any class and realm. */
export function hex(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('hex')
}
