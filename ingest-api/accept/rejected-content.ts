import { isUtf8 } from 'node:buffer'
import { withoutApiKeys } from '../../schemas/api-key.ts'
import {
  REJECTED_BODY_BYTES,
  REJECTED_DEVICE_ID_UNITS,
  type ReportRejected,
} from '../../schemas/report-rejected.ts'

/** What of a report has been read so far, as it came. */
export type Received = {
  /** The bytes it came in, one after another; absent where it came among others. */
  readonly chunks?: readonly Buffer[]
  /** The report as JSON; absent while it is not known to be that. */
  readonly json?: unknown
}

/** What is kept of a refused report: its beginning, and whom it says it comes from. */
export function rejectedContent({
  chunks,
  json,
}: Received): Pick<ReportRejected, 'deviceId' | 'body'> {
  const body = beginning(chunks ?? written(json))
  const deviceId = deviceIdIn(json)
  return { ...(deviceId !== undefined && { deviceId }), ...(body !== '' && { body }) }
}

/** A report that came among others, as the only one. */
function written(json: unknown): readonly Buffer[] {
  if (json === undefined) return []
  try {
    return [Buffer.from(JSON.stringify(json))]
  } catch {
    // Nested too deep to be written.
    return []
  }
}

/** The beginning of a body that is text; nothing of another, for in that no API key can be found. */
function beginning(chunks: readonly Buffer[]): string {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  // One byte more than is kept tells whether the body goes on.
  const bytes = Buffer.concat(chunks, Math.min(length, REJECTED_BODY_BYTES + 1))
  const kept = cutAtCharacter(bytes)
  if (!isText(kept)) return ''
  const text = withoutApiKeys(kept.toString('utf8'), { cut: kept.length < bytes.length })
  return cutAtCharacter(Buffer.from(text)).toString('utf8')
}

/** UTF-16 that is mostly ASCII looks like UTF-8, but for its zeros. */
function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0)
}

function cutAtCharacter(bytes: Buffer): Buffer {
  if (bytes.length <= REJECTED_BODY_BYTES) return bytes
  let end = REJECTED_BODY_BYTES
  // A character has three bytes at most that continue it.
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
