import { forkTypescript } from '../fork.ts'
import { median } from '../median.ts'
import type { Row } from '../part.ts'
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
      /** Without the database's name. */
      readonly mongodbUrl: string
    }
)

export type ProjectorRound = { readonly projected: Speed; readonly bare: Speed }

type Message = { readonly round: ProjectorRound } | { readonly failed: string }

/** Projects a full log into one store; every number is the median of the rounds. */
export async function measureProjector(order: ProjectorOrder, progress: Progress): Promise<Row> {
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
  return {
    into: order.store,
    'events/s': median(rounds.map(({ projected }) => projected.perSecond)),
    'bare driver loop': median(rounds.map(({ bare }) => bare.perSecond)),
    '÷ bare': median(rounds.map(({ projected, bare }) => projected.perSecond / bare.perSecond)),
    'CPU µs/event': median(rounds.map(({ projected }) => projected.cpuMicros)),
    ...{ events: order.events, devices: order.devices },
  }
}
