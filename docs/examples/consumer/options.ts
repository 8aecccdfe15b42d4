import { parseArgs } from 'node:util'

export type Options = {
  readonly brokers: readonly string[]
  readonly topic: string
  readonly group: string
  /** The schema registry's URL for Confluent clients; without it Avro values are skipped. */
  readonly registry?: string
}

/** An invalid argument; the message says what to enter instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The output of `--help`. */
export const HELP = `Prints each accepted position once, as one line of JSON on standard output. A line with seenAt says
that the device reported without a position, one with erasedAt that it was erased: forget its earlier
positions.

  npm run --silent example:consumer -- --brokers localhost:9092
  npm run --silent example:consumer -- --brokers kafka:9092 --registry http://schema-registry:8080/apis/ccompat/v7

  --brokers HOST:PORT[,HOST:PORT …]   brokers to start with
  --topic NAME      (default gps.position-reported; gps.device-events has what happened to devices)
  --group NAME      consumer group (default example-consumer). A new group starts with the first
                    position in the log; a known one continues where it stopped
  --registry URL    schema registry, needed for values in Avro

It reports skipped entries on standard error. Ctrl-C or SIGTERM ends it after the current position.
Exit code 0: it was stopped; 1: reading cannot continue; 2: an argument is invalid.
`

/** Parses the command line. @throws {UsageError} for the first invalid argument. */
export function parseOptions(args: readonly string[]): Options | 'help' {
  const { help, brokers, topic, group, registry } = parse(args)
  if (help === true) return 'help'
  const addresses = (brokers ?? '').split(',').map((address) => address.trim())
  if (!addresses.every((address) => /^\S+:\d+$/.test(address))) {
    throw new UsageError('--brokers must be HOST:PORT, several with commas between them')
  }
  if (topic === '') throw new UsageError('--topic must be the name of a topic')
  if (group === '') throw new UsageError('--group must be the name of a consumer group')
  if (registry !== undefined && !/^https?:$/.test(protocol(registry))) {
    throw new UsageError('--registry must be an http:// or https:// URL')
  }
  return {
    brokers: addresses,
    topic: topic ?? 'gps.position-reported',
    group: group ?? 'example-consumer',
    ...(registry !== undefined && { registry }),
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h' },
        brokers: { type: 'string' },
        topic: { type: 'string' },
        group: { type: 'string' },
        registry: { type: 'string' },
      },
    }).values
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new UsageError(`${message.split(/\. |\n/)[0]}: --help lists the options`)
  }
}

function protocol(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : ''
}
