import type { Candidate } from './candidates/candidate.ts'
import { startEmbeddedCandidate } from './candidates/embedded.ts'
import { startKafkaCandidate } from './candidates/kafka.ts'
import { forkTypescript, progress } from './fork.ts'
import { median } from './statistics.ts'
import { meterOf, type Sample, type Shape } from './meter.ts'
import type { Order } from './order.ts'
import type { Part, Row } from './part.ts'
import { BATCHES, compile, FIRST, letAllReport, SINGLE } from './warm-up.ts'

const SHAPES: readonly Shape[] = [
  { name: '1 connection', connections: 1, batch: 1 },
  SINGLE,
  BATCHES,
  FIRST,
]
/** One service under one shape of load, in one round. */
type Round = {
  readonly service: string
  readonly load: string
  readonly sample: Sample
}

const STARTED = [
  { part: 'embedded', start: ({ adapters }: Order) => startEmbeddedCandidate(adapters.openFiles) },
  { part: 'kafka', start: (order: Order) => startKafkaCandidate('JSON', order) },
  { part: 'kafka', start: (order: Order) => startKafkaCandidate('Avro', order) },
] as const

/** Measures how the services handle reports. */
export async function measureSubmit(order: Order): Promise<Part> {
  const services: Candidate[] = []
  try {
    for (const { part, start } of STARTED) {
      if (!order.parts.has(part)) continue
      progress(`starting: ${part}`)
      services.push(await start(order))
    }
    return await measureInTurn(services, order)
  } finally {
    for (const service of services) await service.stop()
  }
}

/** Each shape of load with each service alternately, so that other load on the machine affects them all alike. */
async function measureInTurn(candidates: readonly Candidate[], order: Order): Promise<Part> {
  const { rounds, seconds, devices } = order
  const [first] = candidates
  if (first === undefined) throw new Error('nothing to measure')
  const limit = await startBare(first)
  const generator = forkTypescript('load/main.ts')
  const bare = meterOf(limit, generator)
  // The bare server repeats the response to this report.
  const services = candidates.map((one) =>
    meterOf(one, generator, { reported: one === first ? 1 : 0 }),
  )
  const meters = [bare, ...services]
  try {
    for (const meter of meters) {
      progress(`warming up: ${meter.candidate.name}`)
      if (meter !== bare) await letAllReport(meter, devices)
      await compile(meter, { devices, ...SINGLE }, seconds)
    }
    const done: Round[] = []
    for (let round = 1; round <= rounds; round += 1) {
      for (const shape of SHAPES) {
        const hasLimit = shape.batch === 1 && shape !== FIRST
        for (const meter of hasLimit ? meters : services) {
          progress(`round ${round} of ${rounds}: ${meter.candidate.name}, ${shape.name}`)
          const sample = await meter.measure({ devices, ...shape }, { seconds })
          done.push({ service: meter.candidate.name, load: shape.name, sample })
        }
      }
    }
    progress('counting what is stored')
    const faults = await Promise.all(meters.map((meter) => meter.faults()))
    const title = `Taking reports${devices === undefined ? '' : ` of ${devices} devices`}`
    return { title, rows: rowsOf(done), faults: faults.flat() }
  } finally {
    await Promise.all([generator.stop(), limit.stop()])
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
    const { service, load } = first
    const middle = (value: (sample: Sample) => number) =>
      median(own.map(({ sample }) => value(sample)))
    const ratios = own.map(({ sample }, round) => {
      return sample.cpuMicros / (bare[round]?.sample.cpuMicros ?? NaN)
    })
    return [
      {
        service,
        load,
        'reports/s': middle(({ acknowledged, seconds }) => acknowledged / seconds),
        'CPU µs/report': middle(({ cpuMicros }) => cpuMicros),
        '÷ bare': median(ratios),
        'p50 ms': middle(({ latency }) => latency.p50),
        'p99 ms': middle(({ latency }) => latency.p99),
        'memory MB': middle(({ residentMB }) => residentMB),
        "generator's CPU": middle(({ generatorCpu }) => generatorCpu),
      },
    ]
  })
}

/**
 * The upper limit that the other candidates are compared with: a bare `node:http` server that
 * parses the same JSON and responds with the same bytes as the service does to one report.
 */
async function startBare({ url, key }: Candidate): Promise<Candidate> {
  const child = forkTypescript('candidates/bare-server.ts')
  return {
    name: 'bare node:http',
    url: await child.ask<string>({ url, key }),
    // As long as a real key.
    key: `gps_${'0'.repeat(38)}`,
    pid: child.pid,
    stop: () => child.stop(),
  }
}
