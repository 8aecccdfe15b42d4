import type { GrowthResult, HistoryResult } from './growth/measure.ts'
import type { ProjectorResult } from './projector/measure.ts'
import type { ReadableResult } from './readable/measure.ts'
import type { SendersResult } from './senders/measure.ts'
import type { SubmitResult } from './submit/summary.ts'

/** What was measured, when, and on what. */
export type Measured<Result = object> = Result & {
  readonly at: string
  readonly machine: string
  readonly rounds: number
  /** Why the figures are void; none: they are not. */
  readonly faults: readonly string[]
}

/** The parts of the bench that have been measured. */
export type Parts = {
  readonly submit?: Measured<SubmitResult>
  readonly senders?: Measured<SendersResult>
  readonly readable?: Measured<ReadableResult>
  readonly projector?: Measured<ProjectorResult>
  readonly growth?: Measured<GrowthResult>
  readonly history?: Measured<HistoryResult>
}
