import { createHash } from 'node:crypto'
import { telemetryOf } from '../../schemas/devices/device-readings.ts'
import { OPTIONAL_FIELDS } from '../../schemas/report/report-fields.ts'
import type {
  DeviceStatus,
  LastPosition,
  PositionRecord,
} from '../../schemas/devices/read-models.ts'

/**
 * A record as text that is the same in every store. Without its origin, which is not part of the
 * report.
 */
export function canonicalRecord(record: PositionRecord): string {
  const { accountId, deviceId, keyId, timestampSource } = record
  return JSON.stringify([accountId, deviceId, keyId, timestampSource, ...positionParts(record)])
}

/** A device status as text, without `applied`. */
export function canonicalStatus(status: DeviceStatus): string {
  const { accountId, deviceId, firstSeenAt, lastSeenAt, reportCount } = status
  const { lastReceivedAt, lastKeyAt, lastKeyEventId, lastKeyId } = status
  const seen = [firstSeenAt, lastSeenAt, lastReceivedAt, lastKeyAt, lastKeyEventId, lastKeyId]
  const position = positionParts(status.lastPosition)
  const telemetry = telemetryOf(status)
  const newer = telemetry && [
    telemetry.receivedAt,
    telemetry.battery ?? null,
    telemetry.attributes ?? null,
  ]
  return JSON.stringify([accountId, deviceId, ...seen, reportCount, ...position, newer ?? null])
}

function positionParts(position: LastPosition): unknown[] {
  const { recordId, latitude, longitude, timestamp, receivedAt } = position
  const optional = OPTIONAL_FIELDS.map((name) => position[name] ?? null)
  return [recordId, latitude, longitude, timestamp, receivedAt, ...optional]
}

/** Counts texts and hashes them independently of their order. */
export class UnorderedHash {
  #count = 0
  #sum = 0n

  add(text: string): void {
    const hash = createHash('sha256').update(text).digest('hex')
    this.#count += 1
    // A sum, not XOR: with XOR two equal texts would cancel out.
    this.#sum = BigInt.asUintN(256, this.#sum + BigInt(`0x${hash}`))
  }

  /** Adds all texts of another hash. */
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
