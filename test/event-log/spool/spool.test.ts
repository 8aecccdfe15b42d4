import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { openSpool } from '../../../event-log/spool/spool.ts'
import { isWithdrawn } from '../../../schemas/events/device-erased.ts'
import { eventIdOf, type AppendedEvent } from '../../../schemas/events/appended-event.ts'
import {
  encodePositionReported,
  type PositionReported,
} from '../../../schemas/events/position-reported.ts'
import { newUlid } from '../../../schemas/events/record-id.ts'
import { eventFormatContract } from '../../contracts/event-log-contract.ts'
import { samples } from '../../contracts/event-log-suite.ts'
import { eventually } from '../../eventually.ts'
import { deviceSeen, positionReported } from '../../samples.ts'
import { openEmptyLog } from '../sqlite/log-files.ts'
import { spoolForEachTest, type SpoolHarness } from './harness.ts'

eventFormatContract('A spool before SQLite', async (options) => ({
  ...(await openEmptyLog(options, (eventLog, folder) =>
    openSpool({
      directory: mkdtempSync(join(folder, 'spool-')),
      eventLog,
      ...options,
      maxBytes: 2 ** 20,
      maxAgeSeconds: 3600,
    }),
  )),
  marksAll: true,
}))

describe('spools', () => {
  let harness: SpoolHarness
  spoolForEachTest((opened) => (harness = opened))

  let spool: ReturnType<SpoolHarness['open']>
  beforeEach(() => {
    spool = harness.open()
  })

  /** Opens the spool again, like a process that restarts. */
  async function reopen(options: Parameters<SpoolHarness['open']>[0] = {}) {
    await spool.close()
    spool = harness.open(options)
  }

  async function drained(): Promise<void> {
    await eventually(() => spool.depth().events === 0)
  }

  async function loggedIds(): Promise<string[]> {
    return (await harness.entries()).map(({ event }) => eventIdOf(event))
  }

  test('a spool keeps its id when its process restarts, and another spool has another id', async () => {
    const { id } = spool.depth()
    await reopen()
    expect(spool.depth().id).toBe(id)
    const directory = mkdtempSync(join(harness.folder, 'spool-'))
    const other = harness.open({ directory })
    expect(other.depth().id).not.toBe(id)
  })

  test('a spool writes nothing while the log confirms appends', async () => {
    const event = positionReported()
    await spool.append([event])
    const nothing = { events: 0, bytes: 0, oldestSeconds: 0 }
    expect(spool.depth()).toEqual({ id: expect.any(String), ...nothing })
    expect(await harness.entries()).toEqual([
      { kind: 'position', origin: { partition: 0, offset: 1 }, event, spooled: true },
    ])
  })

  test.each(['down', 'hung'] as const)(
    'a spool takes events while the log is %s, and returns them in order, marked',
    async (line) => {
      harness.becomes(line)
      const events = samples(7)
      for (const event of events.slice(0, 5)) await spool.append([event])
      await spool.append(events.slice(5))
      expect(spool.depth().events).toBe(7)
      expect(await harness.entries()).toEqual([])
      harness.becomes('up')
      await drained()
      expect(await harness.entries()).toEqual(
        events.map((event, index) => ({
          kind: 'position',
          origin: { partition: 0, offset: index + 1 },
          event,
          spooled: true,
        })),
      )
    },
  )

  test('when the log stops answering, pending appends are spooled in the order of the calls', async () => {
    await reopen({ directWithinMs: 1_000 })
    harness.becomes('hung')
    const events = samples(20)
    const began = performance.now()
    await Promise.all(events.map((event) => spool.append([event])))
    expect(performance.now() - began).toBeGreaterThan(950)
    harness.becomes('up')
    await drained()
    expect(await loggedIds()).toEqual(events.map(({ recordId }) => recordId))
  })

  test('with very many pending appends and a silent log, a spool waits less, and not for later appends', async () => {
    await reopen({ directWithinMs: 600_000 })
    harness.becomes('hung')
    // One fewer than the number that counts as very many.
    const appends = samples(299).map((event) => spool.append([event]))
    await new Promise(setImmediate)
    expect(spool.depth().events).toBe(0)
    await eventually(() => {
      appends.push(spool.append([positionReported()]))
      return spool.depth().events >= 300
    })
    await Promise.all(appends)
    await spool.append([positionReported()])
    expect(spool.depth().events).toBe(appends.length + 1)
  })

  test.each(['responses lost', 'mute'] as const)(
    'a spool appends unconfirmed events again: %s',
    async (line) => {
      harness.becomes(line)
      const event = positionReported()
      await spool.append([event])
      expect(spool.depth().events).toBe(1)
      harness.becomes('up')
      await drained()
      const ids = await loggedIds()
      expect(ids.length).toBeGreaterThanOrEqual(2)
      expect(new Set(ids)).toEqual(new Set([event.recordId]))
    },
  )

  test('a report acknowledged by a spool does not survive a later erasure, however late the log writes earlier appends', async () => {
    harness.becomes('stalled')
    const event = positionReported()
    await spool.append([event])
    const { accountId, deviceId } = event
    const erasedAt = event.receivedAt + 1
    await harness.log.erase({ eventId: newUlid(erasedAt), accountId, deviceId, erasedAt })
    harness.becomes('up')
    const copies = await eventually(async () => {
      const entries = await harness.entries()
      return entries.length === 2 && entries
    })
    expect(copies.map((copy) => eventIdOf(copy.event))).toEqual(Array(2).fill(event.recordId))
    expect(copies.map((copy) => isWithdrawn(copy, erasedAt))).toEqual([true, true])
  })

  test('appends go to the log again once the spool is empty, also under load', async () => {
    // Room for everything written until it is drained, even on a slow machine.
    await reopen({ maxBytes: 2 ** 30 })
    harness.becomes('down')
    const sent: PositionReported[] = []
    let stopped = false
    const senders = ['a', 'b', 'c', 'd'].map(async (deviceId) => {
      while (!stopped) {
        const event = positionReported({ deviceId })
        sent.push(event)
        await spool.append([event])
      }
    })
    await eventually(() => spool.depth().events > 1500)
    harness.becomes('up')
    await eventually(() => harness.logged.some(({ message }) => message.includes('spool drained')))
    const more = sent.length + 200
    await eventually(() => sent.length > more)
    stopped = true
    await Promise.all(senders)
    await drained()
    const entries = await harness.entries()
    expect(entries.length).toBe(sent.length)
    for (const device of ['a', 'b', 'c', 'd']) {
      const own = (events: AppendedEvent[]) =>
        events.filter(({ deviceId }) => deviceId === device).map(eventIdOf)
      expect(own(entries.map(({ event }) => event))).toEqual(own(sent))
    }
    expect(
      harness.logged.filter(({ message }) => message.includes('event log unavailable')),
    ).toHaveLength(1)
    expect(harness.logged.at(-1)?.message).toContain('spool drained')
  })

  test('a spool keeps acknowledged events over a restart without the log, and sends them first', async () => {
    harness.becomes('down')
    const events = samples(3)
    await spool.append(events)
    await reopen()
    expect(spool.depth().events).toBe(3)
    const later = positionReported()
    await spool.append([later])
    harness.becomes('up')
    await drained()
    expect(await loggedIds()).toEqual([...events, later].map(({ recordId }) => recordId))
  })

  test('a spool returns heartbeats among the positions in their order', async () => {
    harness.becomes('down')
    const events = [positionReported(), deviceSeen(), deviceSeen(), positionReported()]
    await spool.append(events.slice(0, 2))
    await reopen()
    await spool.append(events.slice(2))
    harness.becomes('up')
    await drained()
    expect((await harness.entries()).map(({ event }) => event)).toEqual(events)
  })

  test('a spool returns events left by a version without heartbeats', async () => {
    await spool.close()
    const event = positionReported()
    const file = new DatabaseSync(join(harness.directory, 'spool.sqlite'))
    file.exec('ALTER TABLE waiting DROP COLUMN heartbeat_id; PRAGMA user_version = 1')
    file
      .prepare('INSERT INTO waiting (received_at, value) VALUES (?, ?)')
      .run(event.receivedAt, Buffer.from(encodePositionReported(event)))
    file.close()
    spool = harness.open()
    const heartbeat = deviceSeen()
    await spool.append([heartbeat])
    await drained()
    expect((await harness.entries()).map((entry) => entry.event)).toEqual([event, heartbeat])
  })

  test('a spool keeps an event until the log has confirmed it', async () => {
    harness.becomes('down')
    await spool.append([positionReported()])
    harness.becomes('mute')
    await eventually(async () => (await harness.entries()).length === 1)
    expect(spool.depth().events).toBe(1)
  })

  test('an event that the log permanently rejects fails and not spooled', async () => {
    const faulty = { ...positionReported(), timestamp: NaN }
    await expect(spool.append([faulty])).rejects.toThrow(RangeError)
    expect(harness.logged).toEqual([])
  })

  test('a spool answers all pending appends before it closes, in any state of the log', async () => {
    harness.becomes('hung')
    const appends = samples(30).map((event) => spool.append([event]))
    const closed = spool.close()
    expect((await Promise.allSettled(appends)).map(({ status }) => status)).toEqual(
      appends.map(() => 'fulfilled'),
    )
    harness.becomes('up')
    await closed
    spool = harness.open()
    await eventually(async () => (await harness.entries()).length >= 30)
    await expect(spool.append([])).resolves.toBeUndefined()
  })

  test('a spool belongs to one process', () => {
    expect(() => harness.open()).toThrow('set SPOOL_DIR to another folder')
  })
})
