import { hash, randomFillSync } from 'node:crypto'
import { MEASUREMENTS } from './position-reported.ts'
import type { PositionReport } from './position-report.ts'

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** Two characters for each 10 bits. */
const PAIRS = [...CROCKFORD].flatMap((first) => [...CROCKFORD].map((second) => first + second))
const RANDOM_BYTES = 10

/**
 * The ULID of a report's record. A report with a timestamp or an `Idempotency-Key` always gets the
 * same one, so that sending it again is safe. The random part is from SHA-256 over the account, the
 * header's value and every known field present; the time part is the report's timestamp, or from the
 * hash too. Any other report gets a random ULID of the time of receipt.
 */
export function recordIdFor(
  report: PositionReport,
  {
    accountId,
    idempotencyKey,
    receivedAt,
  }: { accountId: string; idempotencyKey: string | undefined; receivedAt: number },
): string {
  if (report.timestamp === undefined && idempotencyKey === undefined) {
    return ulid(receivedAt, nextRandom())
  }
  const digest = hash('sha256', identity(report, accountId, idempotencyKey), 'buffer')
  return ulid(report.timestamp ?? digest.readUIntBE(10, 6), digest)
}

/** A ULID of its own, of a moment in milliseconds. */
export function newUlid(time: number): string {
  return ulid(time, nextRandom())
}

const random = { bytes: Buffer.alloc(RANDOM_BYTES * 1024), used: RANDOM_BYTES * 1024 }

/** Drawn in blocks: a draw of its own for each id costs more than all the rest of the id. */
function nextRandom(): Uint8Array {
  if (random.used === random.bytes.length) {
    randomFillSync(random.bytes)
    random.used = 0
  }
  random.used += RANDOM_BYTES
  return random.bytes.subarray(random.used - RANDOM_BYTES, random.used)
}

/** A ULID of a moment in milliseconds and the first 10 bytes (https://github.com/ulid/spec). */
export function ulid(time: number, random: Uint8Array): string {
  const high = Math.floor(time / 2 ** 20)
  return (
    pair(high >> 20) +
    pair(high >> 10) +
    pair(high) +
    pair(time >> 10) +
    pair(time) +
    eightCharacters(random, 0) +
    eightCharacters(random, 5)
  )
}

/** Five bytes of `random`, 10 bits at a time. */
function eightCharacters(random: Uint8Array, from: number): string {
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = random.subarray(from, from + 5)
  return (
    pair((a << 2) | (b >> 6)) +
    pair((b << 4) | (c >> 4)) +
    pair((c << 6) | (d >> 2)) +
    pair((d << 8) | e)
  )
}

/** The lowest 10 bits. */
function pair(bits: number): string {
  return PAIRS[bits & 1023]!
}

/**
 * A JSON list of names and values in a fixed order. It holds only present fields, so that a field
 * added to reports later does not change the ids of reports without it.
 */
function identity(report: PositionReport, accountId: string, idempotencyKey: string | undefined) {
  const parts: (string | number)[] = ['account', accountId, 'deviceId', report.deviceId]
  if (idempotencyKey !== undefined) parts.push('idempotencyKey', idempotencyKey)
  parts.push('latitude', report.latitude, 'longitude', report.longitude)
  if (report.timestamp !== undefined) parts.push('timestamp', report.timestamp)
  for (const name of MEASUREMENTS) {
    const value = report[name]
    if (value !== undefined) parts.push(name, value)
  }
  return JSON.stringify(parts)
}
