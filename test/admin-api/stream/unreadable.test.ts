import { afterEach, expect, test } from '@jest/globals'
import type { EventLog, LogEntry } from '../../../event-log/event-log.ts'
import { openSqliteEventLog } from '../../../event-log/sqlite/sqlite-event-log.ts'
import { eventually } from '../../eventually.ts'
import { positionReported } from '../../samples.ts'
import { startStreaming, type StreamHarness } from './stream-harness.ts'

let harness: StreamHarness

afterEach(() => harness.close())

/** Reports of this device cannot be read. */
const AVRO = { deviceId: 'avro' }

async function start({
  missing,
  ...stream
}: { missing?: 'SCHEMA_REGISTRY_URL'; ringEntries?: number; unreadableEveryMs?: number } = {}) {
  const unread = (entry: LogEntry): LogEntry =>
    entry.kind === 'position' && entry.event.deviceId === AVRO.deviceId
      ? {
          kind: 'unreadable',
          origin: entry.origin,
          reason: 'it is Avro',
          key: null,
          value: null,
          ...(missing !== undefined && { missing }),
        }
      : entry
  harness = await startStreaming({
    stream,
    openLog(options): EventLog {
      const log = openSqliteEventLog(options)
      return {
        ...log,
        async *tail(options) {
          for await (const item of log.tail(options)) {
            yield item.kind === 'batch' ? { ...item, entries: item.entries.map(unread) } : item
          }
        },
      }
    },
  })
  return harness
}

const kinds = ({ events }: { events: readonly { event: string }[] }) =>
  events.map(({ event }) => event)

test('an event that cannot be read is a gap in the stream, counted and logged', async () => {
  const { eventLog, listen, logged, metric } = await start()
  const source = await listen()
  const other = await listen({ query: '?deviceId=tug' })
  await eventLog.append([positionReported()])
  await eventually(() => source.events.length === 1)
  await eventLog.append([positionReported(AVRO)])
  await eventually(() => source.events.length === 2 && other.events.length === 1)
  await eventLog.append([positionReported()])
  await eventually(() => source.events.length === 3)
  expect(kinds(source)).toEqual(['position', 'gap', 'position'])
  expect(source.events[1]?.data).toEqual({
    reason: 'some log entries cannot be read: others follow',
  })
  expect(await metric('gps_stream_unreadable_total')).toBe(1)
  const lines = logged.filter((line) => line.includes('it is Avro'))
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: 40, count: 1, origin: { partition: 0, offset: 2 } },
  ])
})

test('many unreadable events are announced to a reader together', async () => {
  const everyMs = 300
  const { eventLog, listen, logged, metric } = await start({ unreadableEveryMs: everyMs })
  const source = await listen()
  const begun = performance.now()
  for (let sent = 0; sent < 50; sent += 1) await eventLog.append([positionReported(AVRO)])
  await eventually(async () => (await metric('gps_stream_unreadable_total')) === 50)
  await eventLog.append([positionReported()])
  await eventually(() => source.of('position').length === 1)
  const logCounts = () =>
    logged.flatMap((line) => {
      const { count, reason } = JSON.parse(line) as { count?: number; reason?: string }
      return reason === 'it is Avro' ? [count ?? 0] : []
    })
  await eventually(() => logCounts().reduce((sum, count) => sum + count, 0) === 50)
  await eventually(() => source.of('gap').length > 1)
  expect(kinds(source).at(0)).toBe('gap')
  // The first one comes immediately.
  const most = 1 + Math.ceil((performance.now() - begun) / everyMs)
  expect(source.of('gap').length).toBeLessThanOrEqual(most)
})

test('a resuming reader gets a gap for events that could not be read meanwhile', async () => {
  const { eventLog, listen } = await start({ ringEntries: 4 })
  const first = await listen()
  const begin = first.lastEventId()
  await eventLog.append([positionReported(AVRO)])
  await eventually(() => first.events.length === 1)
  expect(kinds(first)).toEqual(['gap'])
  const soon = await listen({ lastEventId: begin })
  await eventually(() => soon.events.length === 1)
  expect(kinds(soon)).toEqual(['gap'])
  await eventLog.append(Array.from({ length: 20 }, () => positionReported()))
  await eventually(() => first.of('position').length + first.of('lagging').length > 0)
  const late = await listen({ lastEventId: begin })
  await eventually(() => late.of('position').length === 20)
  expect(kinds(late).filter((kind) => kind !== 'position')).toEqual(['gap'])
})

test('an admin API that lacks a variable to read an event is not ready, and names the variable', async () => {
  const { eventLog, listen, request } = await start({ missing: 'SCHEMA_REGISTRY_URL' })
  const source = await listen()
  expect((await request('GET', '/readyz')).status).toBe(200)
  await eventLog.append([positionReported(AVRO)])
  await eventually(() => source.of('gap').length === 1)
  const { status, body } = await request('GET', '/readyz')
  expect(status).toBe(503)
  expect(body.message).toContain('SCHEMA_REGISTRY_URL')
})
