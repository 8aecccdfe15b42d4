import { isUtf8 } from 'node:buffer'
import { maskApiKeys } from '../../schemas/access/keys-in-text.ts'
import {
  REJECTED_BODY_BYTES,
  REJECTED_DEVICE_ID_UNITS,
  type ReportRejected,
} from '../../schemas/events/report-rejected.ts'
import type { SubmittedReport } from './outcome.ts'

/** The part of a report read so far. */
export type Received = {
  /** The raw body; absent if the report was one of several. */
  readonly chunks?: readonly Buffer[]
  /** The parsed report; absent before it has been parsed. */
  readonly json?: unknown
  /** The device, if the report is not in our format; otherwise `json` names it. */
  readonly deviceId?: string | undefined
}

/** The parts of a report that a rejection shows. */
export function receivedOf(submitted: SubmittedReport | undefined): Received {
  if (submitted === undefined || !('seen' in submitted)) return submitted ?? {}
  const { seen: deviceId, chunks, battery, attributes } = submitted
  const { json = { deviceId, battery, attributes } } = submitted
  return { json, deviceId, ...(chunks !== undefined && { chunks }) }
}

/** Reduces a report to what a rejection stores: the start of its body, and its device id. */
export function rejectedContentOf({
  chunks,
  json,
  deviceId: named,
}: Received): Pick<ReportRejected, 'deviceId' | 'body'> {
  const body = beginning(chunks ?? encodeJson(json))
  const deviceId = findDeviceId(named === undefined ? json : { deviceId: named })
  return { ...(deviceId !== undefined && { deviceId }), ...(body !== '' && { body }) }
}

/** The body the report would have had if sent alone. */
function encodeJson(json: unknown): readonly Buffer[] {
  if (json === undefined) return []
  try {
    return [Buffer.from(JSON.stringify(json))]
  } catch {
    // Nested too deeply for JSON.stringify (no such limit from Node 26 on).
    return []
  }
}

/**
 * The start of a text body. Other bodies are not stored: API keys in them could not be masked.
 */
function beginning(chunks: readonly Buffer[]): string {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  // One byte more than is stored shows whether a character ends there.
  const bytes = Buffer.concat(chunks, Math.min(length, REJECTED_BODY_BYTES + 1))
  const kept = cutAtCharacter(bytes)
  if (!isText(kept)) return ''
  // The body may have been truncated before it arrived.
  const text = maskApiKeys(kept.toString('utf8'), { cut: true })
  return cutAtCharacter(Buffer.from(text)).toString('utf8')
}

/** ASCII text in UTF-16 is also valid UTF-8, but contains zero bytes. */
function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0)
}

function cutAtCharacter(bytes: Buffer): Buffer {
  if (bytes.length <= REJECTED_BODY_BYTES) return bytes
  let end = REJECTED_BODY_BYTES
  // A character has at most three continuation bytes.
  while (end > REJECTED_BODY_BYTES - 3 && isContinuation(bytes[end])) end -= 1
  return bytes.subarray(0, end)
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

function findDeviceId(json: unknown): string | undefined {
  if (typeof json !== 'object' || json === null || !('deviceId' in json)) return undefined
  const { deviceId } = json
  if (typeof deviceId !== 'string') return undefined
  const kept = deviceId.slice(0, REJECTED_DEVICE_ID_UNITS)
  const text = maskApiKeys(kept, { cut: kept.length < deviceId.length })
  // Masking may lengthen the text, and a cut may split a surrogate pair.
  return text.slice(0, REJECTED_DEVICE_ID_UNITS).toWellFormed()
}
