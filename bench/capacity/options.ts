import type { ParseArgsConfig } from 'node:util'
import { parseArguments, UsageError } from '../../runtime/arguments.ts'
import { ASSUMPTIONS, type Assumptions } from './capacity.ts'

export type CapacityOptions = { readonly file: string; readonly assumptions: Assumptions }

const OPTIONS: Readonly<Record<string, { name: keyof Assumptions; meaning: string }>> = {
  interval: { name: 'intervalSeconds', meaning: 'seconds between two reports of a device' },
  load: { name: 'load', meaning: 'the share of each core that is used' },
  cores: { name: 'coresPerMachine', meaning: 'cores of a machine' },
  replicas: { name: 'replicas', meaning: 'copies that Kafka and MongoDB keep' },
  retention: { name: 'retentionDays', meaning: 'RETENTION_DAYS' },
  broker: { name: 'brokerBytesPerSecond', meaning: 'bytes a broker takes a second' },
  shard: { name: 'shardReportsPerSecond', meaning: 'reports a MongoDB shard takes a second' },
  'core-price': { name: 'corePerMonth', meaning: 'price of a core and month' },
  'gigabyte-price': { name: 'gigabytePerMonth', meaning: 'price of a gigabyte and month' },
}

export const CAPACITY_HELP = `Prints what 10^4, 10^6 and 10^8 devices need, from a result of the bench.

  npm run capacity -- [FILE] [--OPTION N …]

FILE is what npm run bench -- --json FILE has written (default bench/result.json). The bench measures
what a report costs; what one machine cannot tell is assumed, and can be given:

${Object.entries(OPTIONS)
  .map(([option, { name, meaning }]) => {
    return `  --${option} N`.padEnd(22) + `${meaning} (default ${ASSUMPTIONS[name]})`
  })
  .join('\n')}
`

/** @throws {UsageError} */
export function parseCapacityOptions(args: readonly string[]): CapacityOptions | 'help' {
  const options: NonNullable<ParseArgsConfig['options']> = { help: { type: 'boolean', short: 'h' } }
  for (const option of Object.keys(OPTIONS)) options[option] = { type: 'string' }
  const { values, positionals } = parseArguments(args, { allowPositionals: true, options })
  if (values['help'] === true) return 'help'
  const [file = 'bench/result.json', ...more] = positionals
  if (more.length > 0) throw new UsageError('only one FILE can be given')
  const assumptions: Record<string, number> = { ...ASSUMPTIONS }
  for (const [option, { name }] of Object.entries(OPTIONS)) {
    const text = values[option]
    if (text === undefined) continue
    const value = Number(text)
    if (!(value > 0 && value < Infinity)) {
      throw new UsageError(`--${option} must be a number above 0, not "${String(text)}"`)
    }
    assumptions[name] = value
  }
  return { file, assumptions: assumptions as Assumptions }
}
