import type { RejectionError, ReportRejected } from '../schemas/events/report-rejected.ts'

/** Rejected reports: the latest 10 000 of each account, for 7 days. */
export interface Rejections {
  /** A repeated rejectionId is ignored. Removes rejections that exceed the age or number limits. */
  saveRejections(events: readonly ReportRejected[]): Promise<void>
  /** Removes the rejected reports of a device up to a time. */
  forgetRejections(device: { accountId: string; deviceId: string; upTo: number }): Promise<void>
  /** Newest first. `after` is the rejectionId of the last one seen. */
  pageRejections(
    query: RejectionFilter & { readonly limit: number; readonly after?: string },
  ): Promise<ReportRejected[]>
  /** The number of rejected reports: the sum of the rejections' counts. */
  countRejections(filter: RejectionFilter): Promise<RejectionCounts>
}

export type RejectionFilter = {
  readonly accountId: string
  readonly keyId?: string | undefined
  readonly deviceId?: string | undefined
  readonly error?: RejectionError | undefined
  /** receivedAt: `from` inclusive, `to` exclusive. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

export type RejectionCounts = {
  readonly total: number
  readonly byError: ReadonlyMap<RejectionError, number>
  readonly byKey: ReadonlyMap<string, number>
  /** Without rejections that name no device. */
  readonly byDevice: ReadonlyMap<string, number>
}
