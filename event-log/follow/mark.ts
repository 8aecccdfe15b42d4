import { crc32 } from 'node:zlib'
import type { Offsets } from '../../schemas/read-models.ts'

/** A reader's current place in the whole log. */
export type Place = Record<number, number>

const MOST_PARTITIONS = 1_000
/** A longer mark does not fit in a request's headers. */
const LONGEST = 12_000

/** A place in the whole log as an id for readers: opaque, but not secret. */
export function writeMark(place: Offsets): string {
  const offsets = JSON.stringify(place)
  const check = crc32(offsets).toString(36)
  return Buffer.from(`{"v":1,"check":"${check}","offsets":${offsets}}`).toString('base64url')
}

/**
 * The place in a mark; undefined if invalid. The checksum detects mistakes, not forgery, so the
 * content is validated like any input.
 */
export function readMark(mark: string): Place | undefined {
  if (mark.length > LONGEST) return undefined
  const offsets = offsetsIn(Buffer.from(mark, 'base64url').toString())
  if (offsets === undefined) return undefined
  const entries = Object.entries(offsets)
  const fits =
    entries.length <= MOST_PARTITIONS &&
    entries.every(
      ([partition, offset]) =>
        /^(0|[1-9]\d{0,4})$/.test(partition) && Number.isSafeInteger(offset) && offset >= 0,
    )
  if (!fits) return undefined
  const place: Place = Object.fromEntries<number>(entries)
  return writeMark(place) === mark ? place : undefined
}

/** The claimed offsets, not yet validated. */
function offsetsIn(text: string): Readonly<Record<string, number>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('offsets' in value)) return undefined
    const { offsets } = value
    return typeof offsets === 'object' && offsets !== null
      ? (offsets as Record<string, number>)
      : undefined
  } catch {
    return undefined
  }
}
