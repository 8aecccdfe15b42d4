import type { Clock } from '../../runtime/clock.ts'
import { INSTANCE_GONE_MS, type InstanceReport } from '../../schemas/instance-report.ts'
import type { Instances } from '../../store/back-office.ts'
import type { Hearing } from './decider.ts'

/**
 * Returns the time since which at least one instance has been ready without interruption, according
 * to their reports. An instance that has not reported since another became ready may have ended
 * before that.
 */
function findReadySince(reports: readonly InstanceReport[], freshSince: number): number {
  const newestFirst = [...reports].sort((a, b) => b.reportedAt - a.reportedAt)
  let since = Infinity
  for (const { reportedAt, readySince = Infinity } of newestFirst) {
    if (reportedAt < freshSince || (since !== Infinity && reportedAt < since)) break
    since = Math.min(since, readySince)
  }
  return since
}

/**
 * A sweep later than this means that the machine was asleep, and that reports from that time may
 * still arrive.
 */
const SLEPT_MS = 30_000
/** Instances report every 10 s: after a longer pause, one may have ended and another started. */
const FRESH_MS = 15_000

/** Whether devices' reports can be received, so that their silence means something. */
export type HearingWatch = {
  /** Checks the instances; call this every second. */
  look(): Promise<void>
  /** The result of the last check. */
  current(): Omit<Hearing, 'now'>
  /**
   * Up to this time, everything received by ingest APIs was in the log, or in a spool, according to
   * their last reports.
   */
  heardUpTo(): number
  /** Time since which silences have not been judged; undefined while they are. */
  heldSince(): number | undefined
}

export function watchHearing({
  store,
  clock,
  graceMs,
  spoolMaxAgeMs,
  isEmbedded,
}: {
  store: Pick<Instances, 'instances' | 'waitingSpools'>
  clock: Clock
  /** FACTS_GRACE_SECONDS */
  graceMs: number
  spoolMaxAgeMs: number
  /**
   * The ingest API runs in this process: reports from before its start are from an instance that
   * has ended.
   */
  isEmbedded: boolean
}): HearingWatch {
  const startedAt = clock.now()
  let lookedAt: number | undefined
  let readySince = Infinity
  let heardUpTo = -Infinity
  let awakeSince = -Infinity
  let heldSince: number | undefined = startedAt

  function noteSleep(now: number): void {
    if (lookedAt !== undefined && now - lookedAt > SLEPT_MS) awakeSince = now
  }

  function current(): Omit<Hearing, 'now'> {
    noteSleep(clock.now())
    return { since: Math.max(readySince, awakeSince), graceMs }
  }

  return {
    async look() {
      const now = clock.now()
      const reports = await store.instances({ reportedSince: now - INSTANCE_GONE_MS })
      const ingest = reports.filter(({ service }) => service === 'ingest-api')
      const waiting = await store.waitingSpools({ reportedSince: now - spoolMaxAgeMs })
      const freshSince = Math.max(now - FRESH_MS, isEmbedded ? startedAt : -Infinity)
      readySince = waiting > 0 ? Infinity : findReadySince(ingest, freshSince)
      heardUpTo = Math.min(...ingest.map(({ reportedAt }) => reportedAt))
      noteSleep(clock.now())
      lookedAt = clock.now()
      heldSince = lookedAt < current().since + graceMs ? (heldSince ?? lookedAt) : undefined
    },

    current,

    heardUpTo: () => heardUpTo,
    heldSince: () => heldSince,
  }
}
