import type { DayTotalsStore } from './day-totals.ts'
import type { Span } from '../../core/span.ts'

/** A device, the days of it that are shown, today, the zone in which they are days, and their totals. */
export type DeviceDays = {
  readonly deviceId: string
  readonly span: Span
  readonly today: string
  readonly zone: string
  /** How far it went on each of its days. */
  readonly totals: DayTotalsStore
}
