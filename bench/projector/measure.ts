import { inOwnProcess } from '../fork.ts'
import { median } from '../median.ts'
import type { Row } from '../part.ts'
import type { BenchProgress } from '../progress.ts'
import type { Speed } from './speed.ts'

export type ProjectorOrder = {
  readonly events: number
  readonly devices: number
  readonly rounds: number
} & (
  | { readonly store: 'SQLite' }
  | {
      readonly store: 'MongoDB'
      readonly brokers: readonly string[]
      readonly topicPrefix: string
      /** Without the database's name. */
      readonly mongodbUrl: string
    }
)

export type ProjectorRound = { readonly projected: Speed; readonly bare: Speed }

/** Projects a full log into one store; every number is the median of the rounds. */
export async function measureProjector(
  order: ProjectorOrder,
  progress: BenchProgress,
): Promise<Row> {
  progress(`projector into ${order.store}: filling the log`)
  const rounds = await inOwnProcess<ProjectorRound[]>('projector/main.ts', order, progress)
  return {
    into: order.store,
    'events/s': median(rounds.map(({ projected }) => projected.perSecond)),
    'bare driver loop': median(rounds.map(({ bare }) => bare.perSecond)),
    '÷ bare': median(rounds.map(({ projected, bare }) => projected.perSecond / bare.perSecond)),
    'CPU µs/event': median(rounds.map(({ projected }) => projected.cpuMicros)),
    events: order.events,
    devices: order.devices,
  }
}
