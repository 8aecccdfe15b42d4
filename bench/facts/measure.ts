import { inOwnProcess } from '../fork.ts'
import { median } from '../median.ts'
import type { Row } from '../part.ts'
import type { BenchProgress } from '../progress.ts'
import type { Speed } from '../projector/speed.ts'

/** How often the devices report; where no interval is expected, each is offline before its next report. */
export const REPORTING = {
  '10 s': { everyMs: 10_000, isExpected: false },
  '2 h': { everyMs: 7_200_000, isExpected: true },
  '2 h, offline between': { everyMs: 7_200_000, isExpected: false },
} as const

export type FactsOrder = {
  readonly events: number
  readonly devices: number
  readonly rounds: number
  readonly reporting: keyof typeof REPORTING
  /** Numbers of geofences to measure with. */
  readonly geofences: readonly number[]
  /** Without the database's name. Absent: into SQLite. */
  readonly mongodbUrl?: string
}

/** The first is without facts, the others with these numbers of geofences. */
export type FactsRound = {
  readonly without: Speed
  readonly withFacts: readonly (Speed & { readonly factsPerEvent: number })[]
  readonly residentMB: number
}

/** Projects a full log with and without deciding facts; every number is the median of the rounds. */
export async function measureFacts(order: FactsOrder, progress: BenchProgress): Promise<Row[]> {
  const rounds = await inOwnProcess<FactsRound[]>('facts/main.ts', order, progress)
  return order.geofences.map((geofences, n): Row => {
    const inRounds = (
      value: (speed: FactsRound['withFacts'][number], round: FactsRound) => number,
    ) =>
      median(
        rounds.flatMap((round) => round.withFacts.slice(n, n + 1).map((one) => value(one, round))),
      )
    return {
      'a report every': order.reporting,
      geofences: String(geofences),
      devices: String(order.devices),
      into: order.mongodbUrl === undefined ? 'SQLite' : 'MongoDB',
      'CPU µs/event': inRounds(({ cpuMicros }) => cpuMicros),
      'without facts': inRounds((_, { without }) => without.cpuMicros),
      '÷ without': inRounds(({ cpuMicros }, { without }) => cpuMicros / without.cpuMicros),
      'time ÷ without': inRounds(({ perSecond }, { without }) => without.perSecond / perSecond),
      'facts/event': inRounds(({ factsPerEvent }) => factsPerEvent),
      'memory MB': inRounds((_, { residentMB }) => residentMB),
    }
  })
}
