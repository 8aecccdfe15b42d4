import { describe, expect, test } from '@jest/globals'
import type { DeadLetter, DeadLetterLog } from '../../event-log/dead-letters.ts'
import type { EventLog, LogEntry, UnreadableEntry } from '../../event-log/event-log.ts'
import { eventually } from '../eventually.ts'
import { positionReported } from '../samples.ts'
import { hex, SOON, startTail } from './event-log-suite.ts'

export type OpenedDeadLetters = {
  readonly log: EventLog & DeadLetterLog
  /** Puts a value where a position belongs, behind the adapter's back. */
  putRaw(value: Uint8Array | null, key: string): Promise<void>
  close(): Promise<void>
}

/** Dead letters are read back as they were, and appended again once they can be read. */
export function deadLettersContract(name: string, open: () => Promise<OpenedDeadLetters>): void {
  describe(`${name} keeps dead letters`, () => {
    test('and gives them back, byte for byte, and as what they are read as now', async () => {
      await withLetters(open, async ({ log, kept, good }) => {
        const letters = await all(log)
        expect(letters.map(({ kept: { origin, reason } }) => ({ origin, reason }))).toEqual(
          kept.map(({ origin, reason }) => ({ origin, reason })),
        )
        expect(letters.map((one) => hex(one.kept.value))).toEqual(kept.map((one) => hex(one.value)))
        expect(letters.map((one) => hex(one.kept.key))).toEqual(kept.map((one) => hex(one.key)))
        expect(letters.map(({ now }) => now.kind)).toEqual(['unreadable', 'position', 'unreadable'])
        expect(letters[1]?.now).toMatchObject({ event: good })
      })
    }, 90_000)

    test('and appends them again, so that they are read; what is kept stays', async () => {
      await withLetters(open, async ({ log, kept, good }) => {
        for await (const read of log.readDeadLetters()) {
          const [first, second] = read.letters as [DeadLetter, DeadLetter]
          await log.settleDeadLetters(read, { replay: [second], keep: [first] })
        }
        await eventually(async () => (await log.deadLetters()) === 1, SOON)
        const [left] = await all(log)
        expect(hex(left!.kept.value)).toBe(hex(kept[0]!.value))
        expect(left!.kept).toMatchObject({ origin: kept[0]!.origin, reason: kept[0]!.reason })

        const tail = startTail(log, {})
        await eventually(() => tail.events().length >= 2, SOON)
        // Where it stood, and again at the end.
        expect(tail.events()).toEqual([good, good])
        await tail.stop()
      })
    }, 90_000)
  })
}

/** Three dead letters; the second one is an event that this version reads. */
async function withLetters(
  open: () => Promise<OpenedDeadLetters>,
  check: (given: {
    log: EventLog & DeadLetterLog
    kept: readonly UnreadableEntry[]
    good: ReturnType<typeof positionReported>
  }) => Promise<void>,
): Promise<void> {
  const opened = await open()
  try {
    const { log } = opened
    const good = positionReported()
    const key = 'acc-1/tracker-1'
    await opened.putRaw(Buffer.from([0xff, 0x00, 0x7b]), key)
    await log.append([good])
    await opened.putRaw(null, key)
    const tail = startTail(log, {})
    const entries = () => tail.items.flatMap((item) => (item.kind === 'batch' ? item.entries : []))
    await eventually(() => entries().length >= 3, SOON)
    await tail.stop()
    const kept = entries().map(asDeadLetter)
    await log.deadLetter(kept)
    await eventually(async () => (await log.deadLetters()) === 3, SOON)
    await check({ log, kept, good })
  } finally {
    await opened.close()
  }
}

/** As a version before wrote it, to which this event was none. */
function asDeadLetter(entry: LogEntry): UnreadableEntry {
  if (entry.kind === 'unreadable') return entry
  if (entry.kind !== 'position') throw new Error(`${entry.kind} was not put there`)
  const { event, origin } = entry
  const times = {
    timestamp: new Date(event.timestamp).toISOString(),
    receivedAt: new Date(event.receivedAt).toISOString(),
  }
  return {
    kind: 'unreadable',
    origin,
    reason: 'not known then',
    key: Buffer.from('acc-1/tracker-1'),
    value: Buffer.from(JSON.stringify({ ...event, ...times })),
  }
}

async function all(log: DeadLetterLog): Promise<DeadLetter[]> {
  const found: DeadLetter[] = []
  for await (const { letters } of log.readDeadLetters()) found.push(...letters)
  return found
}
