import type { EventLog } from '../event-log/event-log.ts'
import type { PositionReported } from '../schemas/events/position-reported.ts'
import { ulid } from '../schemas/events/record-id.ts'
import { eventually } from '../test/eventually.ts'
import { MEASURED } from './load/requests.ts'

const BEGIN = Date.UTC(2026, 0, 1)
const EVERY_MS = 10_000
const APPENDED_AT_ONCE = 500

/** The number of log entries, and of the devices that send them in rotation. */
export type Events = { readonly events: number; readonly devices: number }

/**
 * Event number n of a fleet whose devices report one after another, ten seconds apart: a realistic log, the
 * same in every run.
 */
export function eventOf(n: number, devices: number): PositionReported {
  const turn = Math.floor(n / devices)
  const device = n % devices
  const timestamp = BEGIN + EVERY_MS * turn + Math.floor((EVERY_MS * device) / devices)
  return {
    recordId: idOf(n, timestamp),
    accountId: 'bench',
    keyId: 'bench',
    deviceId: `bench-${device}`,
    latitude: -80 + ((device * 7 + turn) % 160_000) / 1000,
    longitude: -170 + ((device * 13 + turn) % 340_000) / 1000,
    timestamp,
    timestampSource: 'device',
    receivedAt: timestamp + 150,
    ...MEASURED,
    heading: device % 360,
  }
}

export function idOf(n: number, timestamp = 0): string {
  const random = Buffer.alloc(10)
  random.writeUIntBE(n, 4, 6)
  return ulid(timestamp, random)
}

/** Appends events as fast as the log can be written. */
export async function fillLog(
  eventLog: Pick<EventLog, 'append' | 'ready'>,
  { events, devices }: Events,
): Promise<void> {
  await eventually(() => eventLog.ready().then(() => true), { withinMs: 60_000, everyMs: 50 })
  for (let next = 0; next < events; next += APPENDED_AT_ONCE) {
    const count = Math.min(APPENDED_AT_ONCE, events - next)
    await eventLog.append(Array.from({ length: count }, (_, at) => eventOf(next + at, devices)))
  }
}
