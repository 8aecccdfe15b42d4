import { forkTypescript } from '../fork.ts'
import { median } from '../median.ts'
import type { Progress } from '../progress.ts'
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
      /** Without a database. */
      readonly mongodbUrl: string
    }
)

export type ProjectorRound = { readonly projected: Speed; readonly bare: Speed }

/** The projector into one store; every number is the median of the rounds. */
export type ProjectorRow = {
  readonly store: ProjectorOrder['store']
  readonly events: number
  readonly devices: number
  readonly perSecond: number
  readonly barePerSecond: number
  /** CPU microseconds per event, of the projector's process. */
  readonly cpuMicros: number
  /** The projector's rate ÷ that of the bare driver loop. */
  readonly ratio: number
}

export type ProjectorResult = {
  readonly rows: readonly ProjectorRow[]
  readonly faults: readonly string[]
}

type Message = { readonly round: ProjectorRound } | { readonly failed: string }

export async function measureProjector(
  order: ProjectorOrder,
  progress: Progress,
): Promise<ProjectorRow> {
  const child = forkTypescript('projector/main.ts')
  const rounds: ProjectorRound[] = []
  try {
    progress(`projector into ${order.store}: filling the log`)
    let message = child.ask<Message>(order)
    for (let round = 1; round <= order.rounds; round += 1) {
      const answer = await message
      if ('failed' in answer) throw new Error(`the projector's bench failed: ${answer.failed}`)
      rounds.push(answer.round)
      progress(`projector into ${order.store}: round ${round} of ${order.rounds}`)
      if (round < order.rounds) message = child.message<Message>()
    }
  } finally {
    await child.stop()
  }
  const { store, events, devices } = order
  return {
    ...{ store, events, devices },
    perSecond: median(rounds.map(({ projected }) => projected.perSecond)),
    barePerSecond: median(rounds.map(({ bare }) => bare.perSecond)),
    cpuMicros: median(rounds.map(({ projected }) => projected.cpuMicros)),
    ratio: median(rounds.map(({ projected, bare }) => projected.perSecond / bare.perSecond)),
  }
}
