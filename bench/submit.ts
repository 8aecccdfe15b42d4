import { startBare } from './candidates/bare.ts'
import { firstAnswer, type Candidate } from './candidates/candidate.ts'
import { cpuSeconds, residentMegabytes } from './cpu-time.ts'
import { keepAwake } from './keep-awake.ts'
import { startGenerator, type Generator } from './load/generator.ts'
import type { Window } from './load/tally.ts'
import { median } from './median.ts'
import type { Part, Row } from './part.ts'
import type { Progress } from './progress.ts'

/** A shape of load. */
type Shape = { readonly name: string; readonly connections: number; readonly batch: number }

const PACED: Shape = { name: '64 connections', connections: 64, batch: 1 }
const BATCHES: Shape = { name: 'batches of 100', connections: 8, batch: 100 }
const SHAPES: readonly Shape[] = [
  { name: '1 connection', connections: 1, batch: 1 },
  PACED,
  { name: '512 connections', connections: 512, batch: 1 },
  BATCHES,
]

const PACED_SHARE = 0.7
/**
 * The start of the paced load. The generator, whose code is new to the engine, falls behind during
 * it.
 */
const LEAD_IN_SECONDS = 2

/**
 * For each second of a window. By then the engine has compiled the hot code, if the time allows.
 */
const WARM = { requests: 5_000, atMostMs: 7_000 }

/** One candidate in one shape, in one round. */
type Sample = {
  readonly candidate: string
  readonly shape: string
  readonly saturated: Window
  readonly cpuMicros: number
  readonly residentMB: number
  readonly paced?: { readonly perSecond: number; readonly window: Window }
}

type Order = {
  readonly rounds: number
  readonly seconds: number
  /**
   * The number of devices that report in turn; undefined: so many that each stays far below its
   * limit.
   */
  readonly devices: number | undefined
  readonly progress: Progress
}

/**
 * Measures how the services take reports, in rounds: each shape of load with each candidate in
 * turn, so that other load on the machine affects them all alike.
 */
export async function measureSubmit(services: readonly Candidate[], order: Order): Promise<Part> {
  const { rounds, devices, progress } = order
  const [first] = services
  if (first === undefined) throw new Error('nothing to measure')
  const bare = await startBare(await firstAnswer(first))
  const generator = startGenerator()
  // The bare server repeats the answer to this report.
  const acknowledged = new Map([[first.name, 1]])
  const samples: Sample[] = []
  const measure = async (candidate: Candidate, shape: Shape, seconds: number) => {
    const sample = await sampleOf(candidate, shape, { generator, seconds, devices })
    const total = sample.saturated.acknowledged + (sample.paced?.window.acknowledged ?? 0)
    acknowledged.set(candidate.name, (acknowledged.get(candidate.name) ?? 0) + total)
    return sample
  }
  try {
    for (const candidate of [bare, ...services]) {
      progress(`warming up: ${candidate.name}`)
      await warmUp(candidate === bare ? 0 : (devices ?? 0), order, (shape, seconds) =>
        measure(candidate, shape, seconds),
      )
    }
    for (let round = 1; round <= rounds; round += 1) {
      for (const shape of SHAPES) {
        for (const candidate of shape.batch > 1 ? services : [bare, ...services]) {
          progress(`round ${round} of ${rounds}: ${candidate.name}, ${shape.name}`)
          samples.push(await measure(candidate, shape, order.seconds))
        }
      }
    }
    progress('counting what is stored')
    const faults = samples.flatMap(failures)
    for (const candidate of [bare, ...services]) {
      const [stored, expected] = [await candidate.stored(), acknowledged.get(candidate.name)]
      if (stored === expected) continue
      faults.push(`${candidate.name}: ${expected} reports acknowledged, ${stored} stored`)
    }
    const title = `Taking reports${devices === undefined ? '' : ` of ${devices} devices`}`
    return { title, rows: rowsOf(samples), faults }
  } finally {
    await Promise.all([generator.stop(), bare.stop()])
  }
}

/** Sends load until the engine has compiled the code, and each device has reported. */
async function warmUp(
  devices: number,
  { seconds }: Order,
  measure: (shape: Shape, seconds: number) => Promise<Sample>,
): Promise<void> {
  for (let reports = 0; reports < devices;) {
    const { acknowledged, failed } = (await measure(BATCHES, 2)).saturated
    if (acknowledged === 0) throw new Error(`refused: ${JSON.stringify(failed)}`)
    reports += acknowledged
  }
  const begin = performance.now()
  for (let requests = 0; requests < WARM.requests * seconds;) {
    const { answers } = (await measure({ ...PACED, name: 'warm-up' }, Math.min(2, 3 * seconds)))
      .saturated
    if (answers === 0 || performance.now() - begin > WARM.atMostMs * seconds) return
    requests += answers
  }
}

/** Measures one candidate in one shape, including the work that remains after its answers. */
async function sampleOf(
  candidate: Candidate,
  { name: shape, connections, batch }: Shape,
  {
    generator,
    seconds,
    devices,
  }: { generator: Generator; seconds: number; devices: number | undefined },
): Promise<Sample> {
  const { url, key, pid, name } = candidate
  const target = { url, key, batch, ...(devices !== undefined && { devices }) }
  const before = await cpuSeconds(pid)
  const saturated = await generator.run({ kind: 'saturate', target, connections, seconds })
  await candidate.settled()
  const sample = {
    ...{ candidate: name, shape, saturated },
    cpuMicros: (((await cpuSeconds(pid)) - before) * 1e6) / saturated.acknowledged,
    residentMB: await residentMegabytes(pid),
  }
  if (shape !== PACED.name) return sample
  const perSecond = (PACED_SHARE * saturated.answers) / saturated.seconds
  const letSleep = keepAwake()
  try {
    const window = await generator.run({
      ...{ kind: 'pace', target, connections, perSecond },
      ...{ leadInSeconds: LEAD_IN_SECONDS, seconds: 2 * seconds },
    })
    await candidate.settled()
    return { ...sample, paced: { perSecond, window } }
  } finally {
    letSleep()
  }
}

/** A row for each candidate and shape; every number is the median of the rounds. */
function rowsOf(samples: readonly Sample[]): Row[] {
  const of = (candidate: string, shape: string) =>
    samples.filter((sample) => sample.candidate === candidate && sample.shape === shape)
  const bare = of('bare node:http', PACED.name)
  const names = [...new Set(samples.map(({ candidate }) => candidate))]
  const all = names.flatMap((candidate) => SHAPES.map(({ name }) => of(candidate, name)))
  return all.flatMap((own) => {
    const [first] = own
    if (first === undefined) return []
    const middle = (value: (sample: Sample, round: number) => number) => median(own.map(value))
    const p99 = (sample: Sample | undefined) => sample?.paced?.window.latency.p99 ?? NaN
    return [
      {
        ...{ service: first.candidate, load: first.shape },
        'reports/s': middle(({ saturated }) => saturated.acknowledged / saturated.seconds),
        'CPU µs/report': middle(({ cpuMicros }) => cpuMicros),
        '÷ bare': middle(({ cpuMicros }, round) => cpuMicros / (bare[round]?.cpuMicros ?? NaN)),
        'p50 ms': middle(({ saturated }) => saturated.latency.p50),
        'p99 ms': middle(({ saturated }) => saturated.latency.p99),
        'memory MB': middle(({ residentMB }) => residentMB),
        "generator's CPU": middle(({ saturated }) => saturated.generatorCpu),
        ...(first.paced !== undefined && {
          'at 70 %: requests/s': middle(({ paced }) => paced?.perSecond ?? NaN),
          'its p50 ms': middle(({ paced }) => paced?.window.latency.p50 ?? NaN),
          'its p99 ms': middle(p99),
          'p99 ÷ bare': middle((sample, round) => p99(sample) / p99(bare[round])),
        }),
      },
    ]
  })
}

function failures({ candidate, shape, saturated, paced }: Sample): string[] {
  return [saturated, ...(paced === undefined ? [] : [paced.window])].flatMap(({ failed }) =>
    Object.entries(failed).map(
      ([status, times]) => `${candidate}, ${shape}: ${times} answers with status ${status}`,
    ),
  )
}
