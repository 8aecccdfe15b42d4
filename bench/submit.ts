import { startBare } from './candidates/bare.ts'
import type { Candidate } from './candidates/candidate.ts'
import { forkTypescript } from './fork.ts'
import { keepAwake } from './keep-awake.ts'
import { median } from './median.ts'
import { meterOf, type Meter, type Sample, type Shape } from './meter.ts'
import type { Part, Row } from './part.ts'
import type { BenchProgress } from './progress.ts'
import { sampleAnswer } from './sample-answer.ts'

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
 * The warm-up for each second of a window: if there is time, the engine has then compiled the hot code.
 */
const WARM = { requests: 5_000, atMostMs: 7_000 }

/** One service under one shape of load, in one round. */
type Round = {
  readonly service: string
  readonly load: string
  readonly saturated: Sample
  readonly paced?: Sample & { readonly perSecond: number }
}

type Order = {
  readonly rounds: number
  readonly seconds: number
  /**
   * The number of devices that report in turn; undefined: enough that each stays far below its
   * limit.
   */
  readonly devices: number | undefined
  readonly progress: BenchProgress
}

/**
 * Measures how the services take reports, in rounds: each shape of load with each candidate in
 * turn, so that other load on the machine affects them all alike.
 */
export async function measureSubmit(candidates: readonly Candidate[], order: Order): Promise<Part> {
  const { rounds, seconds, devices, progress } = order
  const [first] = candidates
  if (first === undefined) throw new Error('nothing to measure')
  const limit = await startBare(await sampleAnswer(first))
  const generator = forkTypescript('load/main.ts')
  const bare = meterOf(limit, generator, { devices })
  // The bare server repeats the answer to this report.
  const services = candidates.map((one) =>
    meterOf(one, generator, { devices, reported: one === first ? 1 : 0 }),
  )
  try {
    for (const meter of [bare, ...services]) {
      progress(`warming up: ${meter.service}`)
      await warmUp(meter, meter === bare ? 0 : (devices ?? 0), seconds)
    }
    const done: Round[] = []
    for (let round = 1; round <= rounds; round += 1) {
      for (const shape of SHAPES) {
        for (const meter of shape.batch > 1 ? services : [bare, ...services]) {
          progress(`round ${round} of ${rounds}: ${meter.service}, ${shape.name}`)
          done.push(await measureRound(meter, shape, seconds))
        }
      }
    }
    progress('counting what is stored')
    const faults = await Promise.all([bare, ...services].map((meter) => meter.faults()))
    const title = `Taking reports${devices === undefined ? '' : ` of ${devices} devices`}`
    return { title, rows: rowsOf(done), faults: faults.flat() }
  } finally {
    await Promise.all([generator.stop(), limit.stop()])
  }
}

/** Sends load until each device has reported, and the engine has compiled the code. */
async function warmUp(meter: Meter, devices: number, seconds: number): Promise<void> {
  for (let reports = 0; reports < devices;) {
    const { acknowledged, failed } = await meter.measure(BATCHES, { seconds: 2 })
    if (acknowledged === 0) throw new Error(`refused: ${JSON.stringify(failed)}`)
    reports += acknowledged
  }
  const begin = performance.now()
  for (let requests = 0; requests < WARM.requests * seconds;) {
    const { answers } = await meter.measure(PACED, { seconds: Math.min(2, 3 * seconds) })
    if (answers === 0 || performance.now() - begin > WARM.atMostMs * seconds) return
    requests += answers
  }
}

async function measureRound(meter: Meter, shape: Shape, seconds: number): Promise<Round> {
  const saturated = await meter.measure(shape, { seconds })
  const round = { service: meter.service, load: shape.name, saturated }
  if (shape !== PACED) return round
  const perSecond = (PACED_SHARE * saturated.answers) / saturated.seconds
  const letSleep = keepAwake()
  try {
    const rate = { perSecond, leadInSeconds: LEAD_IN_SECONDS, seconds: 2 * seconds }
    return { ...round, paced: { perSecond, ...(await meter.measure(shape, rate)) } }
  } finally {
    letSleep()
  }
}

/** A row for each service and shape; every number is the median of the rounds. */
function rowsOf(done: readonly Round[]): Row[] {
  const of = (service: string, load: string) =>
    done.filter((one) => one.service === service && one.load === load)
  const bare = of('bare node:http', PACED.name)
  const services = [...new Set(done.map(({ service }) => service))]
  const all = services.flatMap((service) => SHAPES.map(({ name }) => of(service, name)))
  return all.flatMap((own) => {
    const [first] = own
    if (first === undefined) return []
    const { service, load, paced } = first
    const middle = (value: (one: Round, round: number) => number) => median(own.map(value))
    const saturated = (value: (sample: Sample) => number) => middle((one) => value(one.saturated))
    const p99 = (one: Round | undefined) => one?.paced?.latency.p99 ?? NaN
    return [
      {
        service,
        load,
        'reports/s': saturated(({ acknowledged, seconds }) => acknowledged / seconds),
        'CPU µs/report': saturated(({ cpuMicros }) => cpuMicros),
        '÷ bare': middle(
          (one, round) => one.saturated.cpuMicros / (bare[round]?.saturated.cpuMicros ?? NaN),
        ),
        'p50 ms': saturated(({ latency }) => latency.p50),
        'p99 ms': saturated(({ latency }) => latency.p99),
        'memory MB': saturated(({ residentMB }) => residentMB),
        "generator's CPU": saturated(({ generatorCpu }) => generatorCpu),
        ...(paced !== undefined && {
          'at 70 %: requests/s': middle((one) => one.paced?.perSecond ?? NaN),
          'its p50 ms': middle((one) => one.paced?.latency.p50 ?? NaN),
          'its p99 ms': middle(p99),
          'p99 ÷ bare': middle((one, round) => p99(one) / p99(bare[round])),
        }),
      },
    ]
  })
}
