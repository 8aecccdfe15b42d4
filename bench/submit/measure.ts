import type { Candidate, CandidateName } from '../candidates/candidate.ts'
import { cpuSeconds } from '../cpu-time.ts'
import { keepAwake } from '../keep-awake.ts'
import type { Generator } from '../load/generator.ts'
import type { Window } from '../load/tally.ts'

/** A way of sending. */
export type Shape = {
  readonly name: ShapeName
  readonly connections: number
  readonly batch: number
  /** Measured at 70 % of the throughput, too. */
  readonly paced: boolean
}

export type ShapeName = '1 connection' | '64 connections' | '512 connections' | 'batches of 100'

export const SHAPES: readonly Shape[] = [
  { name: '1 connection', connections: 1, batch: 1, paced: false },
  { name: '64 connections', connections: 64, batch: 1, paced: true },
  { name: '512 connections', connections: 512, batch: 1, paced: false },
  { name: 'batches of 100', connections: 8, batch: 100, paced: false },
]

const PACED_SHARE = 0.7
/** Of the paced load. What falls behind meanwhile is the generator, whose code is new to the engine. */
const LEAD_IN_SECONDS = 2

/** One candidate in one shape, in one round. */
export type Sample = {
  readonly candidate: CandidateName
  readonly shape: ShapeName
  readonly saturated: Window
  readonly cpuMicros: number
  readonly paced?: { readonly perSecond: number; readonly window: Window }
}

/** Measures one candidate in one shape; what its work leaves behind is counted as its work too. */
export async function measure(
  candidate: Candidate,
  { name: shape, connections, batch, paced }: Shape,
  { generator, seconds }: { generator: Generator; seconds: number },
): Promise<Sample> {
  const { url, key, pid, name } = candidate
  const target = { url, key, batch }
  const before = await cpuSeconds(pid)
  const saturated = await generator.run({ kind: 'saturate', target, connections, seconds })
  await candidate.settled()
  const used = (await cpuSeconds(pid)) - before
  const sample = {
    ...{ candidate: name, shape, saturated },
    cpuMicros: (used * 1e6) / saturated.acknowledged,
  }
  if (!paced) return sample
  const perSecond = (PACED_SHARE * saturated.answers) / saturated.seconds
  const letSleep = keepAwake()
  try {
    const window = await generator.run({
      kind: 'pace',
      ...{ target, connections, perSecond },
      leadInSeconds: LEAD_IN_SECONDS,
      seconds: 2 * seconds,
    })
    await candidate.settled()
    return { ...sample, paced: { perSecond, window } }
  } finally {
    letSleep()
  }
}
