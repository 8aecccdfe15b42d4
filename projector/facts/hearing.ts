import type { Clock } from '../../runtime/clock.ts'
import { INSTANCE_GONE_MS } from '../../schemas/instance-report.ts'
import type { Instances } from '../../store/back-office.ts'
import type { Hearing } from './part.ts'

/** A sweep later than this means that the machine slept, and that reports of that time may still arrive. */
const SLEPT_MS = 30_000
/** Instances report every 10 s: without a report for longer, it may have ended and another begun. */
const FRESH_MS = 15_000

/** Whether devices can be heard, so that their silence means something. */
export type HearingWatch = {
  /** Looks at the instances; call this every second. */
  look(): Promise<void>
  /** As of now. */
  current(): Omit<Hearing, 'now'>
  /** Up to this time, everything that ingest APIs received was in the log, or in a spool, when they last reported. */
  heardUpTo(): number
}

export function watchHearing({
  store,
  clock,
  graceMs,
  spoolMaxAgeMs,
}: {
  store: Pick<Instances, 'instances' | 'waitingSpools'>
  clock: Clock
  /** FACTS_GRACE_SECONDS */
  graceMs: number
  spoolMaxAgeMs: number
}): HearingWatch {
  let lookedAt: number | undefined
  let readySince = Infinity
  let heardUpTo = -Infinity
  let awakeSince = -Infinity

  function noteSleep(now: number): void {
    if (lookedAt !== undefined && now - lookedAt > SLEPT_MS) awakeSince = now
  }

  return {
    async look() {
      const now = clock.now()
      const reports = await store.instances({ reportedSince: now - INSTANCE_GONE_MS })
      const ingest = reports.filter(({ service }) => service === 'ingest-api')
      const fresh = ingest.filter(({ reportedAt }) => reportedAt >= now - FRESH_MS)
      const waiting = await store.waitingSpools({ reportedSince: now - spoolMaxAgeMs })
      const since = Math.min(...fresh.map((one) => one.readySince ?? Infinity))
      readySince = waiting > 0 ? Infinity : since
      heardUpTo = Math.min(...ingest.map(({ reportedAt }) => reportedAt))
      noteSleep(clock.now())
      lookedAt = clock.now()
    },

    current() {
      noteSleep(clock.now())
      return { since: Math.max(readySince, awakeSince), graceMs }
    },

    heardUpTo: () => heardUpTo,
  }
}
