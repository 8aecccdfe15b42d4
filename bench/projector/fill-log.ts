import type { EventLog } from '../../event-log/event-log.ts'
import { eventually } from '../../test/eventually.ts'
import { eventOf, type ReportingFleet } from '../events.ts'

const APPENDED_AT_ONCE = 500

/** Appends this many events, of devices in turn, as fast as the log can be written. */
export async function fillLog(
  eventLog: Pick<EventLog, 'append' | 'ready'>,
  { events, ...fleet }: { readonly events: number } & ReportingFleet,
): Promise<void> {
  await eventually(
    async () => {
      await eventLog.ready()
      return true
    },
    { withinMs: 60_000, everyMs: 50 },
  )
  for (let next = 0; next < events; next += APPENDED_AT_ONCE) {
    const count = Math.min(APPENDED_AT_ONCE, events - next)
    await eventLog.append(Array.from({ length: count }, (_, at) => eventOf(next + at, fleet)))
  }
}
