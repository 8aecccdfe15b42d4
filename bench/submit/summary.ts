import type { CandidateName } from '../candidates/candidate.ts'
import type { Percentiles } from '../load/latencies.ts'
import { median } from '../median.ts'
import { SHAPES, type Sample, type ShapeName } from './measure.ts'

export type SubmitResult = {
  readonly rows: readonly SubmitRow[]
  /** Those without an endpoint for batches. */
  readonly batchless: readonly CandidateName[]
  /** Why the figures are void; none: they are not. */
  readonly faults: readonly string[]
}

/** One candidate in one shape; every number is the median of the rounds. */
export type SubmitRow = {
  readonly candidate: CandidateName
  readonly shape: ShapeName
  readonly perSecond: number
  /** CPU microseconds per report, of the whole process. */
  readonly cpuMicros: number
  /** The same ÷ that of a request to the bare server, 64 connections, same round. */
  readonly ratio: number
  /** Milliseconds, at saturation. */
  readonly latency: Percentiles
  /** The load generator's share of a core. */
  readonly generatorCpu: number
  readonly paced?: {
    readonly perSecond: number
    readonly latency: Percentiles
    /** The p99 ÷ that of the bare server at 70 % of its own throughput, same round. */
    readonly p99Ratio: number
  }
}

export function summary({
  samples,
  ...rest
}: Omit<SubmitResult, 'rows'> & { samples: readonly Sample[] }): SubmitResult {
  const of = (candidate: CandidateName, shape: ShapeName) =>
    samples.filter((sample) => sample.candidate === candidate && sample.shape === shape)
  const bare = of('bare node:http', '64 connections')
  const names = [...new Set(samples.map(({ candidate }) => candidate))]
  const rows = names.flatMap((candidate) =>
    SHAPES.flatMap(({ name: shape }) => {
      const own = of(candidate, shape)
      return own.length === 0 ? [] : [row(own, bare)]
    }),
  )
  return { rows, ...rest }
}

function row(own: readonly Sample[], bare: readonly Sample[]): SubmitRow {
  const { candidate, shape } = own[0] as Sample
  const of = (value: (sample: Sample) => number) => median(own.map(value))
  const paced = own.flatMap((sample) => sample.paced ?? [])
  const p99 = (sample: Sample | undefined) => sample?.paced?.window.latency.p99 ?? NaN
  return {
    ...{ candidate, shape },
    perSecond: of(({ saturated }) => saturated.acknowledged / saturated.seconds),
    cpuMicros: of(({ cpuMicros }) => cpuMicros),
    ratio: median(own.map(({ cpuMicros }, round) => cpuMicros / (bare[round]?.cpuMicros ?? NaN))),
    latency: percentiles(own.map(({ saturated }) => saturated.latency)),
    generatorCpu: of(({ saturated }) => saturated.generatorCpu),
    ...(paced.length > 0 && {
      paced: {
        perSecond: median(paced.map(({ perSecond }) => perSecond)),
        latency: percentiles(paced.map(({ window }) => window.latency)),
        p99Ratio: median(own.map((sample, round) => p99(sample) / p99(bare[round]))),
      },
    }),
  }
}

function percentiles(rounds: readonly Percentiles[]): Percentiles {
  const of = (name: keyof Percentiles) => median(rounds.map((round) => round[name]))
  return { p50: of('p50'), p99: of('p99'), p999: of('p999'), max: of('max') }
}
