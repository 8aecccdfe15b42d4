import { withoutApiKeys } from '../../schemas/api-key.ts'
import {
  REJECTED_BODY_BYTES,
  REJECTED_DEVICE_ID_UNITS,
  type ReportRejected,
} from '../../schemas/report-rejected.ts'

/** What of a request has been read so far, as it came. */
export type Received = {
  /** The body's bytes, one after another; none before it is read. */
  readonly chunks?: readonly Buffer[]
  /** The body as JSON; absent while it is not known to be that. */
  readonly json?: unknown
}

/** What is kept of a refused report: the beginning of its body, and whom it says it comes from. */
export function rejectedContent({
  chunks = [],
  json,
}: Received): Pick<ReportRejected, 'deviceId' | 'body'> {
  const body = beginning(chunks)
  const deviceId = deviceIdIn(json)
  return { ...(deviceId !== undefined && { deviceId }), ...(body !== '' && { body }) }
}

function beginning(chunks: readonly Buffer[]): string {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  // One byte more than is kept tells whether the body goes on.
  const bytes = Buffer.concat(chunks, Math.min(length, REJECTED_BODY_BYTES + 1))
  const kept = cutAtCharacter(bytes)
  const text = withoutApiKeys(kept.toString('utf8'), { cut: kept.length < bytes.length })
  // What is no UTF-8 has grown: U+FFFD takes three bytes.
  return cutAtCharacter(Buffer.from(text)).toString('utf8')
}

function cutAtCharacter(bytes: Buffer): Buffer {
  if (bytes.length <= REJECTED_BODY_BYTES) return bytes
  let end = REJECTED_BODY_BYTES
  // A character has three bytes at most that continue it; garbage may have more of them.
  while (end > REJECTED_BODY_BYTES - 3 && isContinuation(bytes[end])) end -= 1
  return bytes.subarray(0, end)
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

function deviceIdIn(json: unknown): string | undefined {
  if (typeof json !== 'object' || json === null || !('deviceId' in json)) return undefined
  const { deviceId } = json
  if (typeof deviceId !== 'string') return undefined
  const kept = deviceId.slice(0, REJECTED_DEVICE_ID_UNITS)
  const text = withoutApiKeys(kept, { cut: kept.length < deviceId.length })
  // Cut again, because a key's beginning may have grown; no half of a surrogate pair stays.
  return text.slice(0, REJECTED_DEVICE_ID_UNITS).toWellFormed()
}
