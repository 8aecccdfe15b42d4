import { clockError, ROLLOVER_MS, type ClockError } from '../../core/clock-error.ts'
import { duration } from '../../core/times.ts'
import { formatDateTime } from '../../ui/shown.ts'
import { api } from '../../api/client.ts'
import type { ApiPosition } from '../../core/live-device.ts'
import { useLoad } from '../../ui/use-load.ts'
import { readIfAllowed } from './silence-facts.ts'

/** The page's note on a device that reports with past dates. */
export function WrongClock({ of: error }: { of: ClockError }) {
  const { why, remedy } = clockWords(error)
  return (
    <section class="card box stack some" aria-labelledby="wrong-clock">
      <h2 id="wrong-clock">Its clock is wrong</h2>
      <p>{why}</p>
      <p class="quiet">{remedy}</p>
    </section>
  )
}

export function clockWords(error: ClockError) {
  const { datedMs, receivedMs } = error
  if (error.kind === 'clock-ahead') {
    return {
      why:
        `Its clock is ${duration(datedMs - receivedMs)} ahead: a report that arrived ` +
        `${formatDateTime(receivedMs)} is dated ${formatDateTime(datedMs)}. Its reports are stored under such dates.`,
      remedy:
        'Set its date and time, best automatically. Reports dated more than 24 hours ahead are rejected.',
    }
  }
  const { isRollover, isLast } = error
  return {
    why:
      `Its clock is ${duration(receivedMs - datedMs)} behind: a report that arrived ` +
      `${formatDateTime(receivedMs)} is dated ${formatDateTime(datedMs)}. Its reports are stored under such dates` +
      (isLast ? '.' : ', so its last position does not change.'),
    remedy: isRollover
      ? 'Exactly 1024 weeks: its GPS receiver counts the weeks wrongly since a rollover. Update its firmware, or ask ' +
        'its manufacturer; where its app or gateway can send the time of the phone or server instead, choose that.'
      : 'Set its date and time, best automatically. A tracker may need an update of its firmware, or a new battery for its clock.',
  }
}

const POSITIONS = 20
const WEEK_MS = 7 * 86_400_000

/**
 * Estimates the error of a device's clock from its reports with the oldest dates, and from those of
 * a GPS week rollover.
 */
export function useClockError(
  deviceId: string,
  known: { readonly lastSeenMs: number; readonly position: ApiPosition } | undefined,
): ClockError | undefined {
  // A report has arrived that did not change the last position.
  const isSuspect = known !== undefined && known.lastSeenMs > Date.parse(known.position.receivedAt)
  const dated = useLoad(
    async (signal) => {
      if (!isSuspect) return []
      const rolledMs = known.lastSeenMs - ROLLOVER_MS
      const [from, to] = [rolledMs - WEEK_MS, rolledMs + WEEK_MS].map((ms) =>
        new Date(ms).toISOString(),
      )
      const pages = await Promise.all(
        [{ from, to }, { order: 'asc' as const }].map((range) =>
          readIfAllowed(
            api.get('/devices/{deviceId}/positions', {
              path: { deviceId },
              query: { limit: POSITIONS, ...range },
              signal,
            }),
          ),
        ),
      )
      return pages.flatMap((page) => page?.items ?? [])
    },
    [deviceId, isSuspect],
  )
  return known && clockError(known.position, dated.data ?? [])
}
