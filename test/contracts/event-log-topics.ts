import { expect } from '@jest/globals'
import type { EventLog, LogEntry, UnreadableEntry } from '../../event-log/event-log.ts'
import type { Topic } from '../../event-log/topic.ts'
import { encodePositionReported } from '../../schemas/events/position-reported.ts'
import { eventually } from '../eventually.ts'
import { positionReported } from '../samples.ts'
import { hex, SOON, startTail, type EventLogSuite } from './event-log-suite.ts'
import { several } from './rejection-reader.ts'

/** Topics beside the events: of any kind, each independent. */
export function topicsContract(suite: EventLogSuite): void {
  topicContract(suite, {
    kind: 'rejections',
    topicIn: ({ rejections }) => rejections,
    three: () => several(3),
    shown: (rejection) => rejection,
  })
  topicContract(suite, {
    kind: 'dead letters',
    topicIn: ({ deadLetters }) => deadLetters,
    three: () => [Buffer.from([0xff, 0x00, 0x7b]), Buffer.alloc(0), null].map(unreadable),
    shown: ({ key, value, ...rest }) => ({ ...rest, key: hex(key), value: hex(value) }),
  })
  replayContract(suite)
}

function topicContract<Entry>(
  { promise }: EventLogSuite,
  {
    kind,
    topicIn,
    three,
    shown,
  }: {
    kind: string
    topicIn: (log: EventLog) => Topic<Entry>
    three: () => Entry[]
    shown: (entry: Entry) => unknown
  },
): void {
  promise(`${kind} stay until they are removed, except the ones to keep`, async (given) => {
    const { log, opened } = given
    expect(await topicIn(log).count()).toBe(0)
    expect(await held(topicIn(log))).toEqual([])
    const [first, second, third] = three() as [Entry, Entry, Entry]
    await topicIn(log).append([first, second])
    await topicIn(log).append([])
    expect(await held(topicIn(log))).toEqual([first, second].map(shown))
    expect(await topicIn(await opened.reopen()).count()).toBe(2)

    for await (const batch of topicIn(log).read()) {
      await topicIn(log).append([third])
      await topicIn(log).remove(batch, { keep: batch.entries.slice(1) })
    }
    expect(await topicIn(log).count()).toBe(2)
    expect(await held(topicIn(log))).toEqual([third, second].map(shown))
  })

  async function held(topic: Topic<Entry>): Promise<unknown[]> {
    const found: unknown[] = []
    for await (const { entries } of topic.read()) found.push(...entries.map(shown))
    return found
  }
}

/** Dead letters that have become readable are events again. */
function replayContract({ promise }: EventLogSuite): void {
  promise(
    'dead letters are read again, and appended to the events byte for byte',
    async (given) => {
      const { log, opened } = given
      const good = positionReported()
      const key = 'acc-1/tracker-1'
      await opened.putRaw(Buffer.from([0xff, 0x00, 0x7b]), key)
      await log.append([good])
      const tail = startTail(log, {})
      const entries = () =>
        tail.items.flatMap((item) => (item.kind === 'batch' ? item.entries : []))
      await eventually(() => entries().length >= 2, SOON)
      await log.deadLetters.append(entries().map(asDeadLetter))

      for await (const { entries: letters } of log.deadLetters.read()) {
        const [bad, readable] = await Promise.all(
          letters.map(async (kept) => ({ kept, now: await log.readAgain(kept) })),
        )
        expect(bad?.now).toMatchObject({ kind: 'unreadable', origin: entries()[0]?.origin })
        expect(readable?.now).toMatchObject({ kind: 'position', event: good })
        await log.replay([readable!])
      }
      await eventually(() => tail.events().length >= 2, SOON)
      // At its old position, and again at the end.
      expect(tail.events()).toEqual([good, good])
      await tail.stop()
    },
  )
}

/** The offset is beyond anything that a test trims. */
function unreadable(value: Uint8Array | null, index: number): UnreadableEntry {
  const origin = { partition: 0, offset: 1_000_000 + index }
  const key = Buffer.from('acc-1/\xff', 'latin1')
  return { kind: 'unreadable', origin, reason: `for reason ${index}`, key, value, headers: {} }
}

/** In the form of an earlier version that did not know this event. */
function asDeadLetter(entry: LogEntry): UnreadableEntry {
  if (entry.kind === 'unreadable') return entry
  if (entry.kind !== 'position') throw new Error(`${entry.kind} was not put there`)
  const { event, origin } = entry
  const [key, value] = [Buffer.from('acc-1/tracker-1'), Buffer.from(encodePositionReported(event))]
  return { kind: 'unreadable', origin, reason: 'not known then', key, value }
}
