import { createHash, randomBytes } from 'node:crypto'
import { MEASUREMENTS } from './position-reported.ts'
import type { PositionReport } from './position-report.ts'

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

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
    return ulid(receivedAt, randomBytes(10))
  }
  const hash = createHash('sha256')
    .update(identity(report, accountId, idempotencyKey))
    .digest()
  return ulid(report.timestamp ?? hash.readUIntBE(10, 6), hash.subarray(0, 10))
}

/** A ULID of a moment in milliseconds and 10 bytes (https://github.com/ulid/spec). */
export function ulid(time: number, random: Uint8Array): string {
  let text = ''
  let rest = time
  for (let place = 0; place < 10; place += 1) {
    text = CROCKFORD.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  let bits = 0
  let held = 0
  for (const byte of random) {
    bits = (bits << 8) | byte
    held += 8
    while (held >= 5) {
      held -= 5
      text += CROCKFORD.charAt((bits >> held) & 31)
    }
    bits &= (1 << held) - 1
  }
  return text
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
