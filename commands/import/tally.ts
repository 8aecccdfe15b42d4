import { hash } from 'node:crypto'
import type { UnjudgedReport } from '../../schemas/formats/histories/report-of.ts'
import type { ReportRefusal } from '../../client/report.ts'
import { formatThousands } from '../progress.ts'

/** A dry run names them, an import the first few. */
const MOST_EXAMPLES = 1_000
const FEW = 3

export type Skips = { count: number; readonly examples: string[] }
export type ImportedRange = { count: number; from: string; to: string }

/** The outcomes of the items of all files so far. */
export class ImportTally {
  /** Accepted by the service or, in a dry run, valid. */
  accepted = 0
  repeats = 0
  readonly #sent = new Repeats()
  /** Attributes that do not fit into reports. */
  dropped = 0
  /** Number of points outside the time range. */
  outside = 0
  /** Skipped points, by reason. */
  readonly skipped = new Map<string, Skips>()
  /** Items other than positions, by type. */
  readonly others = new Map<string, number>()
  readonly devices = new Map<string, ImportedRange>()
  /** Ignored fields whose names resemble known ones, with their counts. */
  readonly misspelt = new Map<string, number>()
  /** Files that were read to the end. */
  readonly withoutPositions: string[] = []
  readonly unreadable: { readonly file: string; readonly message: string }[] = []

  accept(report: UnjudgedReport): void {
    const { deviceId, timestamp = '' } = report
    this.accepted += 1
    if (this.#sent.add(report)) this.repeats += 1
    const range = this.devices.get(deviceId)
    if (range === undefined) {
      this.devices.set(deviceId, { count: 1, from: timestamp, to: timestamp })
      return
    }
    range.count += 1
    if (timestamp < range.from) range.from = timestamp
    if (timestamp > range.to) range.to = timestamp
  }

  skip(reason: string, { where, message }: { where: string; message: string }): void {
    const skips = this.skipped.get(reason) ?? { count: 0, examples: [] }
    skips.count += 1
    if (skips.examples.length < MOST_EXAMPLES) {
      skips.examples.push(message === reason ? where : `${where}: ${message}`)
    }
    this.skipped.set(reason, skips)
  }

  /**
   * Counts a report that the service rejects, or would reject; the reason for an invalid report is
   * in its message.
   */
  refuse({ error, message }: ReportRefusal, where: string): void {
    this.skip(error === 'INVALID_PARAMS' ? message : error, { where, message })
  }

  passOver(type: string): void {
    this.others.set(type, (this.others.get(type) ?? 0) + 1)
  }

  ignore(misspelt: readonly string[]): void {
    for (const name of misspelt) this.misspelt.set(name, (this.misspelt.get(name) ?? 0) + 1)
  }
}

const MOST_DEVICES = 20

/** Formats the result as readable lines. */
export function importSummary(tally: ImportTally, { dryRun }: { dryRun: boolean }): string {
  const skips = [...tally.skipped].sort(([, a], [, b]) => b.count - a.count)
  const devices = [...tally.devices]
  const lines = [
    `${dryRun ? 'would be imported' : 'accepted'}: ${formatThousands(tally.accepted)}${formatKnown(tally, dryRun)}`,
    ...devices
      .slice(0, MOST_DEVICES)
      .map(
        ([id, { count: n, from, to }]) => `  ${id}: ${formatThousands(n)}, from ${from} to ${to}`,
      ),
    ...lineIfAny(devices.length - MOST_DEVICES, (n) => `  and ${n} more devices`),
    ...lineIfAny(tally.repeats, (n) => `repeats among them: ${n} (same device, time and position)`),
    ...lineIfAny(tally.dropped, (n) => `attributes omitted, too long or too many: ${n}`),
    ...lineIfAny(tally.outside, (n) => `outside of --from and --to: ${n}`),
    ...[...tally.others].map(([what, n]) => `no positions, ${what}: ${formatThousands(n)}`),
    ...[...tally.misspelt].map(
      ([name, n]) => `ignored, perhaps misspelt: ${name} (${formatThousands(n)})`,
    ),
    ...skips.flatMap(([reason, { count: n, examples }]) => {
      const named = dryRun ? examples : examples.slice(0, FEW)
      return [
        `skipped, ${reason}: ${formatThousands(n)}`,
        ...named.map((example) => `  ${example}`),
        ...lineIfAny(
          n - named.length,
          (more) => `  and ${more} more${dryRun ? '' : ': see --dry-run'}`,
        ),
      ]
    }),
    ...tally.withoutPositions.map((file) => `no recorded position in ${file}`),
    ...tally.unreadable.map(
      ({ file, message }) => `could not be read to its end, ${file}: ${message}`,
    ),
  ]
  return `${lines.join('\n')}\n`
}

function formatKnown({ accepted }: ImportTally, dryRun: boolean): string {
  return dryRun || accepted === 0 ? '' : ' (the service has them now, whether new or known before)'
}

/**
 * Returns 2 if a file could not be read to its end, 1 if a point was skipped or a file has none, 0
 * otherwise.
 */
export function exitCode({ unreadable, skipped, withoutPositions }: ImportTally): number {
  if (unreadable.length > 0) return 2
  return skipped.size > 0 || withoutPositions.length > 0 ? 1 : 0
}

function lineIfAny(n: number, line: (n: string) => string): string[] {
  return n > 0 ? [line(formatThousands(n))] : []
}

const FIRST_SLOTS = 2 ** 12
/** 64 MiB; beyond that many points only the newest are remembered. */
const MOST_SLOTS = 2 ** 23

/**
 * Counts repeated points: same device, time, coordinates and alarm. Only a hash of each is stored.
 */
export class Repeats {
  #current = new HashSet(FIRST_SLOTS)
  #previous: HashSet | undefined

  /** Remembers a report. Returns whether it is a repeat. */
  add({ deviceId, timestamp, latitude, longitude, attributes }: UnjudgedReport): boolean {
    const identity = [deviceId, timestamp, latitude, longitude, attributes?.['alarm']]
    const digest = hash('sha1', JSON.stringify(identity), 'buffer')
    const [high, low] = [digest.readUInt32LE(0), digest.readUInt32LE(4)]
    if (this.#previous?.has(high, low) === true || !this.#current.add(high, low)) return true
    if (this.#current.isFull) this.#makeRoom()
    return false
  }

  #makeRoom(): void {
    if (this.#current.slots < MOST_SLOTS) this.#current = this.#current.doubled()
    else {
      this.#previous = this.#current
      this.#current = new HashSet(FIRST_SLOTS)
    }
  }
}

/** A set of pairs of 32-bit numbers, 8 bytes per slot. */
class HashSet {
  readonly slots: number
  readonly #pairs: Uint32Array
  #size = 0

  constructor(slots: number) {
    this.slots = slots
    this.#pairs = new Uint32Array(slots * 2)
  }

  get isFull(): boolean {
    return this.#size * 4 > this.slots * 3
  }

  has(high: number, low: number): boolean {
    return this.#pairs[this.#placeOf(high, low) + 1] !== 0
  }

  /** False if it was already present. */
  add(high: number, low: number): boolean {
    const place = this.#placeOf(high, low)
    if (this.#pairs[place + 1] !== 0) return false
    this.#pairs[place] = high
    this.#pairs[place + 1] = low || 1
    this.#size += 1
    return true
  }

  doubled(): HashSet {
    const larger = new HashSet(this.slots * 2)
    for (let place = 0; place < this.#pairs.length; place += 2) {
      const low = this.#pairs[place + 1]!
      if (low !== 0) larger.add(this.#pairs[place]!, low)
    }
    return larger
  }

  /** The index of the pair, or of its free slot. */
  #placeOf(high: number, low: number): number {
    const sought = low || 1
    for (let slot = high % this.slots; ; slot = (slot + 1) % this.slots) {
      const place = slot * 2
      const found = this.#pairs[place + 1]
      if (found === 0 || (found === sought && this.#pairs[place] === high)) return place
    }
  }
}
