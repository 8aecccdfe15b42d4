import type { TimedReport } from '../../client/client.ts'

const T0 = Date.UTC(2026, 0, 1)

/** The report for a number; all differ. */
export function numbered(n: number): TimedReport {
  return {
    deviceId: 'tracker',
    latitude: 48,
    longitude: 16,
    timestamp: new Date(T0 + n * 1000).toISOString(),
  }
}
