import { hash, randomFillSync } from 'node:crypto'
import type { PositionReport } from '../report/plain-report.ts'
import { measurementsWriter } from '../report/report-fields.ts'

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** Two characters for each 10 bits. */
const PAIRS = [...CROCKFORD].flatMap((first) => [...CROCKFORD].map((second) => first + second))
const RANDOM_BYTES = 10
/** The part of the digest that an id consists of: its random part, and a time. */
const DIGEST_BYTES = 16
const digestBytes = Buffer.alloc(DIGEST_BYTES)

/**
 * The ULID of a report's record. A report with a timestamp or an `Idempotency-Key` always gets the
 * same one, so that sending it again is safe. The random part is from SHA-256 over the account, the
 * header's value and every known field present; the time part is the report's timestamp, or from
 * the hash too. Any other report gets a random ULID with the time of receipt.
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
  // The digest is a text with one character per byte: creating a buffer would take as long as
  // hashing.
  const digest = hash('sha256', identity(report, accountId, idempotencyKey), 'binary')
  for (let at = 0; at < DIGEST_BYTES; at += 1) digestBytes[at] = digest.charCodeAt(at)
  return ulid(report.timestamp ?? digestBytes.readUIntBE(RANDOM_BYTES, 6), digestBytes)
}

/** A new ULID with a time in milliseconds. */
export function newUlid(time: number): string {
  return ulid(time, nextRandom())
}

const random = { bytes: Buffer.alloc(RANDOM_BYTES * 1024), used: RANDOM_BYTES * 1024 }

/**
 * Drawn in blocks: a separate draw for each id would cost more than the rest of creating the id.
 */
function nextRandom(): Uint8Array {
  if (random.used === random.bytes.length) {
    randomFillSync(random.bytes)
    random.used = 0
  }
  random.used += RANDOM_BYTES
  return random.bytes.subarray(random.used - RANDOM_BYTES, random.used)
}

/** A ULID from a time in milliseconds and the first 10 bytes (https://github.com/ulid/spec). */
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
  const b = random[from + 1]!
  const c = random[from + 2]!
  const d = random[from + 3]!
  return (
    pair((random[from]! << 2) | (b >> 6)) +
    pair((b << 4) | (c >> 4)) +
    pair((c << 6) | (d >> 2)) +
    pair((d << 8) | random[from + 4]!)
  )
}

/** The lowest 10 bits. */
function pair(bits: number): string {
  return PAIRS[bits & 1023]!
}

/**
 * A JSON list of names and values in a fixed order. It contains only present fields, so that fields
 * added to reports later do not change the ids of reports without them.
 */
function identity(report: PositionReport, accountId: string, idempotencyKey: string | undefined) {
  const { latitude, longitude, timestamp, attributes } = report
  const device = `["account",${toJsonText(accountId)},"deviceId",${toJsonText(report.deviceId)}`
  const key = idempotencyKey === undefined ? '' : `,"idempotencyKey",${toJsonText(idempotencyKey)}`
  const time = timestamp === undefined ? '' : `,"timestamp",${timestamp}`
  const place = `,"latitude",${latitude},"longitude",${longitude}`
  const more = attributes === undefined ? '' : `,"attributes",${JSON.stringify(attributes)}`
  return `${device}${key}${place}${time}${measured(report)}${more}]`
}

const measured = measurementsWriter((name) => `,"${name}",`)

/** Characters that JSON does not escape. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/

/** A text as JSON. */
export function toJsonText(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}
