import { createHash } from 'node:crypto'
import { MEASUREMENTS } from '../schemas/position-reported.ts'
import type { DeviceStatus, LastPosition, PositionRecord } from '../schemas/read-models.ts'

/**
 * What a record says, as text that is the same in every store. Where in the log it came from is left
 * out: that is how the store knows repeats, and no part of what was reported.
 */
export function canonicalRecord(record: PositionRecord): string {
  const { accountId, deviceId, keyId, timestampSource } = record
  return JSON.stringify([accountId, deviceId, keyId, timestampSource, ...positionParts(record)])
}

/** What a device status says, `applied` left out. */
export function canonicalStatus(status: DeviceStatus): string {
  const { accountId, deviceId, firstSeenAt, lastSeenAt, reportCount, lastPosition } = status
  const counted = [accountId, deviceId, firstSeenAt, lastSeenAt, reportCount]
  return JSON.stringify([...counted, ...positionParts(lastPosition)])
}

function positionParts(position: LastPosition): unknown[] {
  const { recordId, latitude, longitude, timestamp, receivedAt } = position
  const measured = MEASUREMENTS.map((name) => position[name] ?? null)
  return [recordId, latitude, longitude, timestamp, receivedAt, ...measured]
}

/** How many texts there are, and a hash of them that does not depend on their order. */
export class UnorderedHash {
  #count = 0
  #sum = 0n

  add(text: string): void {
    const hash = createHash('sha256').update(text).digest('hex')
    this.#count += 1
    // Added up rather than XORed, or two of the same would be as good as none.
    this.#sum = BigInt.asUintN(256, this.#sum + BigInt(`0x${hash}`))
  }

  /** As if all that was added to the other had been added to this one. */
  addAll(other: UnorderedHash): void {
    this.#count += other.#count
    this.#sum = BigInt.asUintN(256, this.#sum + other.#sum)
  }

  get count(): number {
    return this.#count
  }

  /** 64 hexadecimal digits. */
  get hash(): string {
    return this.#sum.toString(16).padStart(64, '0')
  }
}
