import type { Span } from '../../core/span.ts'

/** A device, the days of it that are shown, today, and the zone in which they are days. */
export type DeviceDays = {
  readonly deviceId: string
  readonly span: Span
  readonly today: string
  readonly zone: string
}
