import { startBare } from './bare/start-bare.ts'
import type { Candidate } from './candidates/candidate.ts'
import { startEmbeddedCandidate } from './candidates/embedded.ts'
import { startKafkaCandidate } from './candidates/kafka.ts'
import { forkTypescript } from './fork.ts'
import { keepAwake } from './keep-awake.ts'
import { median } from './median.ts'
import { meterOf, type Meter, type Sample, type Shape } from './meter.ts'
import type { Order } from './order.ts'
import type { Part, Row } from './part.ts'
import { BATCHES, compile, FIRST, letAllReport, SINGLE } from './warm-up.ts'

const SHAPES: readonly Shape[] = [
  { name: '1 connection', connections: 1, batch: 1 },
  SINGLE,
  { name: '512 connections', connections: 512, batch: 1 },
  BATCHES,
  FIRST,
]

const PACED_SHARE = 0.7
/** The start of the paced load, in which the generator, whose code is new to the engine, falls behind. */
const LEAD_IN_SECONDS = 2
/** One service under one shape of load, in one round. */
type Round = {
  readonly service: string
  readonly load: string
  readonly saturated: Sample
  readonly paced?: Sample & { readonly perSecond: number }
}

/** Measures how the services take reports. */
export async function measureSubmit(order: Order): Promise<Part> {
  const { parts, progress, adapters } = order
  const services: Candidate[] = []
  try {
    if (parts.has('embedded')) {
      progress('starting: embedded')
      services.push(await startEmbeddedCandidate(adapters.openFiles))
    }
    for (const format of parts.has('kafka') ? (['JSON', 'Avro'] as const) : []) {
      progress(`starting: ingest API on Kafka, ${format}`)
      services.push(await startKafkaCandidate(format, await order.servers(), adapters))
    }
    return await measureInTurn(services, order)
  } finally {
    for (const service of services) await service.stop()
  }
}

/** Each shape of load with each service in turn, so that other load on the machine affects them all alike. */
async function measureInTurn(candidates: readonly Candidate[], order: Order): Promise<Part> {
  const { rounds, seconds, devices, progress } = order
  const [first] = candidates
  if (first === undefined) throw new Error('nothing to measure')
  const limit = await startBare(first)
  const generator = forkTypescript('load/main.ts')
  const bare = meterOf(limit, generator)
  // The bare server repeats the answer to this report.
  const services = candidates.map((one) =>
    meterOf(one, generator, { reported: one === first ? 1 : 0 }),
  )
  const shapes = SHAPES.map((shape) => ({ devices, ...shape }))
  try {
    for (const meter of [bare, ...services]) {
      progress(`warming up: ${meter.candidate.name}`)
      if (meter !== bare) await letAllReport(meter, devices)
      await compile(meter, { ...SINGLE, devices }, seconds)
    }
    const done: Round[] = []
    for (let round = 1; round <= rounds; round += 1) {
      for (const shape of shapes) {
        const hasLimit = shape.batch === 1 && shape.name !== FIRST.name
        for (const meter of hasLimit ? [bare, ...services] : services) {
          progress(`round ${round} of ${rounds}: ${meter.candidate.name}, ${shape.name}`)
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

async function measureRound(meter: Meter, shape: Shape, seconds: number): Promise<Round> {
  const saturated = await meter.measure(shape, { seconds })
  const round = { service: meter.candidate.name, load: shape.name, saturated }
  if (shape.name !== SINGLE.name) return round
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
  const bare = of('bare node:http', SINGLE.name)
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
