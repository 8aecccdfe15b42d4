import { UsageError } from '../runtime/process/command-line.ts'
import { valueIn, type Result } from './part.ts'
import { alignColumns, threeDigits } from './table.ts'

/** Bytes of one event in the topic, and of its document in MongoDB. */
export type Bytes = { readonly event: number; readonly document: number }

export type FleetSize = {
  /** Undefined: 10^4, 10^6 and 10^8. */
  readonly devices: number | undefined
  readonly intervalSeconds: number
  readonly retentionDays: number
}

const FLEETS = [1e4, 1e6, 1e8]

/**
 * Assumptions that one machine cannot measure. The rest of each core is for peaks, and for an
 * instance that is down.
 */
const ASSUMED = { load: 0.5, coresPerMachine: 4, copies: 3 }
/** Including copies. */
const BYTES_A_BROKER = 40e6
/** Each report writes a new document and the device's status. */
const REPORTS_A_SHARD = 10_000
/** A topic is created with this many, and a projector alternates between two. */
const FEWEST_PARTITIONS = 12
const PARTITIONS_PER_PROJECTOR = 2
/** Beyond this an embedded process has no reserve: its projection is one thread. */
const MOST_EMBEDDED_CORES = 1
/**
 * Bytes of a report in `log.sqlite` and in `read-models-N.sqlite`, including indexes, according to
 * the file sizes.
 */
const EMBEDDED_BYTES = 800
/** The default of `RATE_LIMIT_KEY`. */
const REPORTS_A_KEY = 1_000

/**
 * Computes the needs of fleets from the cost of one report.
 *
 * @throws {UsageError} naming the part of the bench to run first.
 */
export function capacity(
  result: Result,
  bytes: Bytes,
  { devices, intervalSeconds, retentionDays }: FleetSize,
): string {
  const submit = (service: string, part: string) => {
    const row = [service, '64 connections, known devices']
    return cost(result, part, { title: 'Taking reports', row, column: 'CPU µs/report' })
  }
  const embedded = submit('embedded', 'embedded')
  const ingest = submit('Kafka, JSON', 'kafka')
  const projector = cost(result, 'mongodb', {
    title: 'Projecting a full log',
    row: ['MongoDB', 'decided'],
    column: 'CPU µs/event',
  })
  const { load, coresPerMachine, copies } = ASSUMED
  const fleets = devices === undefined ? FLEETS : [devices]
  const cores = (micros: number) => (perSecond: number) => (perSecond * micros) / 1e6 / load
  /** The highest rate that one process can handle. */
  const most = MOST_EMBEDDED_CORES / cores(embedded)(1)
  // At least two of each: one may be down.
  const atLeastTwo = (count: number) => Math.max(2, Math.ceil(count))
  const projectors = (perSecond: number) => atLeastTwo(cores(projector)(perSecond))
  const perDay = (size: number) => (perSecond: number) => amount(perSecond * size * 86_400)
  const kept = 86_400 * retentionDays * copies * (bytes.event + bytes.document)
  const inOneProcess = (value: (perSecond: number) => number | string) => (perSecond: number) =>
    perSecond > most ? 'too many' : value(perSecond)
  const lines: readonly [string, (perSecond: number) => number | string][] = [
    [
      `devices, each reporting every ${intervalSeconds} s`,
      (perSecond) => perSecond * intervalSeconds,
    ],
    ['reports/s', (perSecond) => perSecond],
    ['one process (npm start), cores', inOneProcess(cores(embedded))],
    ['  disk a day', inOneProcess(perDay(EMBEDDED_BYTES))],
    ['ingest APIs, cores', cores(ingest)],
    [
      `  machines of ${coresPerMachine} cores`,
      (perSecond) => atLeastTwo(cores(ingest)(perSecond) / coresPerMachine),
    ],
    ['projectors, cores', cores(projector)],
    ['  processes', projectors],
    [
      'Kafka: partitions',
      (perSecond) => Math.max(FEWEST_PARTITIONS, projectors(perSecond) * PARTITIONS_PER_PROJECTOR),
    ],
    [
      '  brokers',
      (perSecond) =>
        Math.max(copies, Math.ceil((perSecond * bytes.event * copies) / BYTES_A_BROKER)),
    ],
    ['MongoDB: shards', (perSecond) => Math.ceil(perSecond / REPORTS_A_SHARD)],
    ['log a day, one copy', perDay(bytes.event)],
    ['records a day, one copy', perDay(bytes.document)],
    [`stored, ${retentionDays} days, ${copies} copies`, (perSecond) => amount(kept * perSecond)],
  ]
  const shown = (value: number | string) => (typeof value === 'number' ? threeDigits(value) : value)
  return `A report costs ${threeDigits(embedded)} µs of CPU embedded; on Kafka ${threeDigits(ingest)} µs in the
ingest API and ${threeDigits(projector)} µs in the projector; ${threeDigits(bytes.event)} bytes in the log, ${threeDigits(bytes.document)} in MongoDB.

${alignColumns(lines.map(([name, value]) => [name, '', ...fleets.map((one) => shown(value(one / intervalSeconds)))]))}

One process ends at ${threeDigits(most)} reports/s, which are ${threeDigits(Math.floor(most * intervalSeconds))} devices and ${perDay(EMBEDDED_BYTES)(most)} a day.
A key may send ${threeDigits(REPORTS_A_KEY)} reports/s unless RATE_LIMIT_KEY or its own rateLimit says otherwise.
Cores are used to ${threeDigits(100 * load)} %. Assumed: ${threeDigits(BYTES_A_BROKER / 1e6)} MB/s a broker, copies included; ${threeDigits(REPORTS_A_SHARD)} reports/s
a shard; nothing compressed.
`
}

function cost(result: Result, part: string, place: Parameters<typeof valueIn>[1]): number {
  const isVoid = result.some(({ title, faults }) => title === place.title && faults.length > 0)
  const value = isVoid ? undefined : valueIn(result, place)
  if (value !== undefined && value > 0) return value
  throw new UsageError(`the result has no figures of: npm run bench -- ${part}`)
}

function amount(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return `${threeDigits(bytes / 1000 ** power)} ${units[power]}`
}
