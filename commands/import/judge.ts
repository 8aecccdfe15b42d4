import { judgePoint } from '../../ingest-api/apps/judge-point.ts'
import { isoTime } from '../../schemas/iso-8601.ts'
import type { PositionReport } from '../../schemas/position-report.ts'
import type { FilePoint } from '../../schemas/formats/histories/format.ts'

/** A report as the import takes it. */
export type ImportedReport = Omit<PositionReport, 'timestamp'> & { readonly timestamp: string }

export type Judged =
  /** `dropped`: how many of its attributes do not fit. */
  | { readonly kind: 'report'; readonly report: ImportedReport; readonly dropped: number }
  | { readonly kind: 'outside' }
  /** `reason`: the faulty field. */
  | { readonly kind: 'skipped'; readonly reason: string; readonly message: string }

export type Choice = {
  /** In milliseconds; `from` inclusive, `to` exclusive. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** Judges a point by the rules of the service, so that a dry run finds what an import would. */
export function judge(
  point: FilePoint,
  { deviceId, from = -Infinity, to = Infinity, now }: Choice & { deviceId: string; now: number },
): Judged {
  const judged = judgePoint({ ...point, kind: 'point', sent: undefined }, { deviceId, now })
  if ('faults' in judged) {
    const fields = judged.faults.map(({ field }) => field)
    const messages = judged.faults.map(({ message }) => message)
    return { kind: 'skipped', reason: fields.join(', '), message: messages.join('; ') }
  }
  const { timestamp = NaN, ...rest } = judged.report
  if (timestamp < from || timestamp >= to) return { kind: 'outside' }
  const report = { ...rest, timestamp: isoTime(timestamp) }
  return { kind: 'report', report, dropped: judged.dropped }
}
