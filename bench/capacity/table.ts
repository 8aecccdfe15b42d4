import { aligned, number } from '../table.ts'
import type { Assumptions, Capacity, Costs } from './capacity.ts'

/** The capacities side by side. */
export function capacityTable(
  capacities: readonly Capacity[],
  costs: Costs,
  { intervalSeconds, load, coresPerMachine, ...given }: Assumptions,
): string {
  const row = (name: string, value: (one: Capacity) => string) => [
    name,
    '',
    ...capacities.map(value),
  ]
  const numbers = (name: string, value: (one: Capacity) => number) =>
    row(name, (one) => number(value(one)))
  return `A report costs ${number(costs.embedded)} µs of CPU embedded; on Kafka ${number(costs.ingest)} µs in the
ingest API and ${number(costs.projector)} µs in the projector; ${number(costs.eventBytes)} bytes in the log, ${number(costs.documentBytes)} in MongoDB.

${aligned([
  numbers(`devices, each reporting every ${intervalSeconds} s`, ({ devices }) => devices),
  numbers('reports/s', ({ reportsPerSecond }) => reportsPerSecond),
  row('one process (npm start), cores', ({ embeddedCores }) =>
    embeddedCores === undefined ? 'too many' : number(embeddedCores),
  ),
  numbers('ingest APIs, cores', ({ ingestCores }) => ingestCores),
  numbers(`  machines of ${coresPerMachine} cores`, ({ ingestMachines }) => ingestMachines),
  numbers('projectors, cores', ({ projectorCores }) => projectorCores),
  numbers('  processes', ({ projectors }) => projectors),
  numbers('Kafka: partitions', ({ partitions }) => partitions),
  numbers('  brokers', ({ brokers }) => brokers),
  numbers('MongoDB: shards', ({ shards }) => shards),
  row('log a day, one copy', ({ logBytesPerDay }) => bytes(logBytesPerDay)),
  row('records a day, one copy', ({ storeBytesPerDay }) => bytes(storeBytesPerDay)),
  row(`stored, ${given.retentionDays} days, ${given.replicas} copies`, (one) =>
    bytes(one.storedBytes),
  ),
  numbers('cost a month', ({ costPerMonth }) => costPerMonth),
])}

Cores are used to ${number(100 * load)} %. Assumed: ${number(given.brokerBytesPerSecond / 1e6)} MB/s a broker, copies included; ${number(given.shardReportsPerSecond)} reports/s
a shard; ${given.corePerMonth} a core and month, ${given.gigabytePerMonth} a gigabyte and month; nothing compressed. --help names the options.
`
}

function bytes(value: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3))
  return `${number(value / 1000 ** power)} ${units[power]}`
}
