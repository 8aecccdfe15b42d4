import {
  firstAnswer,
  takesBatches,
  type Candidate,
  type CandidateName,
} from '../candidates/candidate.ts'
import { startBare } from '../candidates/bare.ts'
import { startGenerator } from '../load/generator.ts'
import type { Progress } from '../progress.ts'
import { measure, SHAPES, type Sample, type Shape } from './measure.ts'
import { summary, type SubmitResult } from './summary.ts'

const WARM_UP: Shape = { name: '64 connections', connections: 64, batch: 1, paced: false }

/** Per second of a window. By then the engine has compiled what is called often, if the time allows. */
const WARM = { requests: 5_000, atMostMs: 7_000 }

/**
 * Measures how the services take reports, in rounds: each shape of load with each candidate in turn,
 * so that whatever else the machine does meanwhile concerns them all alike.
 */
export async function runSubmit(
  services: readonly Candidate[],
  { rounds, seconds, progress }: { rounds: number; seconds: number; progress: Progress },
): Promise<SubmitResult> {
  const [first] = services
  if (first === undefined) throw new Error('nothing to measure')
  const bare = await startBare(await firstAnswer(first))
  const candidates = [bare, ...services]
  const generator = startGenerator()
  try {
    // The bare server repeats the answer to this one.
    const acknowledged = new Map<CandidateName, number>([[first.name, 1]])
    const batchless = new Set<Candidate>([bare])
    for (const service of services) if (!(await takesBatches(service))) batchless.add(service)
    const samples: Sample[] = []
    const count = ({ candidate, saturated, paced }: Sample) => {
      const total = saturated.acknowledged + (paced?.window.acknowledged ?? 0)
      acknowledged.set(candidate, (acknowledged.get(candidate) ?? 0) + total)
    }
    for (const candidate of candidates) {
      progress(`warming up: ${candidate.name}`)
      const begin = performance.now()
      let requests = 0
      while (
        requests < WARM.requests * seconds &&
        performance.now() - begin < WARM.atMostMs * seconds
      ) {
        const sample = await measure(candidate, WARM_UP, {
          generator,
          seconds: Math.min(2, 3 * seconds),
        })
        count(sample)
        requests += sample.saturated.answers
        if (sample.saturated.answers === 0) break
      }
    }
    for (let round = 1; round <= rounds; round += 1) {
      for (const shape of SHAPES) {
        for (const candidate of candidates) {
          if (shape.batch > 1 && batchless.has(candidate)) continue
          progress(`round ${round} of ${rounds}: ${candidate.name}, ${shape.name}`)
          const sample = await measure(candidate, shape, { generator, seconds })
          count(sample)
          samples.push(sample)
        }
      }
    }
    progress('counting what is stored')
    const faults = await unequal(candidates, acknowledged)
    const missing = [...batchless].filter((one) => one !== bare).map(({ name }) => name)
    return summary({ samples, batchless: missing, faults: [...faults, ...failures(samples)] })
  } finally {
    await Promise.all([generator.stop(), bare.stop()])
  }
}

/** Candidates that do not hold exactly what they acknowledged. */
async function unequal(
  candidates: readonly Candidate[],
  acknowledged: ReadonlyMap<CandidateName, number>,
): Promise<string[]> {
  const faults: string[] = []
  for (const candidate of candidates) {
    const stored = await candidate.stored()
    const expected = acknowledged.get(candidate.name)
    if (stored === expected) continue
    faults.push(`${candidate.name}: ${expected} reports acknowledged, ${stored} stored`)
  }
  return faults
}

function failures(samples: readonly Sample[]): string[] {
  return samples.flatMap(({ candidate, shape, saturated, paced }) =>
    [saturated, ...(paced === undefined ? [] : [paced.window])].flatMap(({ failed }) =>
      Object.entries(failed).map(
        ([status, times]) => `${candidate}, ${shape}: ${times} answers with status ${status}`,
      ),
    ),
  )
}
