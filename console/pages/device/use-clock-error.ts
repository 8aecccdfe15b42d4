import { api } from '../../api/client.ts'
import { clockError, ROLLOVER_MS, type ClockError } from '../../core/clock-error.ts'
import type { ApiPosition } from '../../core/live-device.ts'
import { useLoad } from '../../ui/use-load.ts'
import { allowed } from './silence-facts.ts'

const POSITIONS = 20
const WEEK_MS = 7 * 86_400_000

/** The error of a device's clock, from its reports with the oldest dates, and those of a GPS week rollover. */
export function useClockError(
  deviceId: string,
  known: { readonly lastSeenMs: number; readonly position: ApiPosition } | undefined,
): ClockError | undefined {
  // Something has arrived since its last position.
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
          allowed(
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
