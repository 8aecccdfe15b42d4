import { createHash, randomBytes } from 'node:crypto'
import { MEASUREMENTS } from './position-reported.ts'
import type { PositionReport } from './position-report.ts'

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * The ULID of a report's record. A report that can be recognised (it has a time, or came with an
 * `Idempotency-Key`) always gets the same one, so that sending it again is safe: its random part
 * comes from SHA-256 over the account, the header's value and every known field that is present,
 * its time part is the report's own time, or comes from the hash too where it has none. Any other
 * report gets a random one of the time it was received.
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
 * Unambiguous and fixed: a JSON list of name and value in turn. Only present fields stand in it, so
 * a field that is added to reports later changes no id of reports without it.
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
