import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from '@jest/globals'
import { pino } from 'pino'
import type { EventLog } from '../../event-log/event-log.ts'
import { openSqliteEventLog } from '../../event-log/sqlite/sqlite-event-log.ts'
import { projectInUse } from '../../projector/project-in-use.ts'
import { LogTooShortError, OtherLogError } from '../../projector/same-log.ts'
import { createLogger, type Logger } from '../../runtime/process/logger.ts'
import { createMetrics } from '../../runtime/process/metrics.ts'
import { DependencyError } from '../../runtime/errors.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { eventually } from '../eventually.ts'
import { positionReported, T0 } from '../samples.ts'
import { logAndStoreForEachTest } from './log-and-store.ts'

const silent = createLogger({ level: 'silent', name: 'test' })
const clock = { now: () => T0 }

let directory: string
let eventLog: EventLog
let store: Store
let firsts: readonly string[]

logAndStoreForEachTest((opened) => ({ directory, eventLog, store } = opened))

/** Three events are applied. */
beforeEach(async () => {
  const events = [positionReported(), positionReported(), positionReported()]
  firsts = events.map(({ recordId }) => recordId)
  await eventLog.append(events)
  await projectUntil(eventLog, async () => (await counted()) === 3)
})

async function projectUntil(
  log: Parameters<typeof projectInUse>[0]['eventLog'],
  done: () => Promise<boolean>,
  logger: Logger = silent,
): Promise<void> {
  const stop = new AbortController()
  const { signal } = stop
  const options = { eventLog: log, store, metrics: createMetrics(), logger, signal }
  const projecting = projectInUse(options)
  let ended = false
  const noteEnd = () => (ended = true)
  projecting.then(noteEnd, noteEnd)
  try {
    await eventually(() => ended || done())
  } finally {
    stop.abort()
    await projecting
  }
}

async function counted(): Promise<number | undefined> {
  const device = await store.findDevice({ accountId: 'acc-1', deviceId: 'tracker-1' })
  return device?.status.reportCount
}

/** Replaces log.sqlite with a log of this many other events. */
async function replaceLog(events: number): Promise<void> {
  await eventLog.close()
  for (const ending of ['', '-wal', '-shm']) {
    await rm(join(directory, `log.sqlite${ending}`), { force: true })
  }
  eventLog = openSqliteEventLog({ file: join(directory, 'log.sqlite'), clock })
  if (events > 0) await eventLog.append(Array.from({ length: events }, () => positionReported()))
}

const forever = () => Promise.resolve(false)

test.each([
  ['holds other events', 5, 'at offset 3 of partition 0 is event 01'],
  ['ends before what was applied', 2, 'partition 0 ends before offset 3, but event 01'],
  ['is empty', 0, 'partition 0 ends before offset 1, but event 01'],
])('a log that %s is rejected, naming both and the remedy', async (_what, events, reason) => {
  await replaceLog(events)
  const refused = projectUntil(eventLog, forever)
  await expect(refused).rejects.toBeInstanceOf(OtherLogError)
  await expect(refused).rejects.toThrow(reason)
  await expect(refused).rejects.toThrow(firsts[2])
  await expect(refused).rejects.toThrow('npm run rebuild -- --force')
  expect(await counted()).toBe(3)
  await eventLog.close()
})

test('a log whose retention has removed the last applied event counts as the same log', async () => {
  await eventLog.trim(T0 + 1_000_000_000)
  await eventLog.append([positionReported()])
  await projectUntil(eventLog, async () => (await counted()) === 4)
})

test('a log that cannot be compared at the start is compared before its first batch', async () => {
  await replaceLog(5)
  let asked = 0
  const away = {
    subscribe: (subscription: Parameters<EventLog['subscribe']>[0]) =>
      eventLog.subscribe(subscription),
    deadLetters: { append: () => Promise.resolve() },
    extent: () => eventLog.extent(),
    eventIdsAt: async (offsets: Parameters<EventLog['eventIdsAt']>[0]) => {
      asked += 1
      if (asked === 1) throw new DependencyError('the log is away', { retriable: true })
      return eventLog.eventIdsAt(offsets)
    },
  }
  await expect(projectUntil(away, forever)).rejects.toBeInstanceOf(OtherLogError)
  expect(asked).toBe(2)
  expect(await counted()).toBe(3)
  await eventLog.close()
})

/** Three more events; the log has lost the first two. */
async function loseTwoEvents(): Promise<void> {
  await eventLog.append([positionReported(), positionReported()])
  await eventLog.append([positionReported({ receivedAt: T0 + 2_000_000_000 })])
  await eventLog.trim(T0 + 1_000_000_000)
}

test('a log that has lost events which the read models lack is rejected, naming them and the remedy', async () => {
  await loseTwoEvents()
  const refused = projectUntil(eventLog, forever)
  await expect(refused).rejects.toBeInstanceOf(LogTooShortError)
  await expect(refused).rejects.toThrow('the events at offsets 4 to 5 of partition 0')
  await expect(refused).rejects.toThrow('npm run rebuild -- --force')
  expect(await counted()).toBe(3)
})

test('events removed by retention are reported as lost, and the rest is projected', async () => {
  await loseTwoEvents()
  await store.close()
  store = openSqliteStore({ directory, clock, retention: { wanted: 30 } })
  const logged: string[] = []
  const logger = pino({ level: 'error' }, { write: (line: string) => void logged.push(line) })
  await projectUntil(eventLog, async () => (await counted()) === 4, logger)
  expect(logged).toHaveLength(1)
  expect(logged[0]).toContain('the events at offsets 4 to 5 of partition 0')
  await store.close()
})
