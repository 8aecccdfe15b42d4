import { createRequire } from 'node:module'
import type { Message } from 'kafkajs'

const crc32c = createRequire(import.meta.url)('kafkajs/src/protocol/recordBatch/crc32C') as (
  bytes: Buffer,
) => number

/** Of everything before the first record; of it, what the length and what the checksum leaves out. */
const HEAD_BYTES = 61
const BEFORE_LENGTH_ENDS = 12
const BEFORE_CHECKED = 21

export type RecordBatch = {
  readonly bytes: number
  /** Writes the batch and returns the place after it. */
  write(into: Buffer, at: number): number
}

/**
 * The messages of one partition as an uncompressed record batch of an idempotent producer, format 2
 * (https://kafka.apache.org/documentation/#recordbatch).
 */
export function recordBatch(
  messages: readonly Message[],
  {
    producerId,
    producerEpoch,
    firstSequence,
  }: { producerId: string | number; producerEpoch: number; firstSequence: number },
): RecordBatch {
  const now = Date.now()
  const times = messages.map(({ timestamp }) => (timestamp === undefined ? now : Number(timestamp)))
  const first = times.reduce((least, time) => Math.min(least, time))
  const last = times.reduce((greatest, time) => Math.max(greatest, time))
  const records = messages.map((message, index) => sized(message, index, times[index]! - first))
  const bytes = records.reduce((sum, { size }) => sum + varintBytes(size) + size, HEAD_BYTES)

  return {
    bytes,
    write(into, start) {
      let at = into.writeBigInt64BE(0n, start)
      at = into.writeInt32BE(bytes - BEFORE_LENGTH_ENDS, at)
      at = into.writeInt32BE(0, at) // partition leader epoch
      at = into.writeInt8(2, at) // format
      at += 4 // checksum, below
      at = into.writeInt16BE(0, at) // attributes
      at = into.writeInt32BE(messages.length - 1, at)
      at = into.writeBigInt64BE(BigInt(first), at)
      at = into.writeBigInt64BE(BigInt(last), at)
      at = into.writeBigInt64BE(BigInt(producerId), at)
      at = into.writeInt16BE(producerEpoch, at)
      at = into.writeInt32BE(firstSequence, at)
      at = into.writeInt32BE(messages.length, at)
      for (const record of records) at = writeRecord(record, into, at)
      const checked = into.subarray(start + BEFORE_CHECKED, at)
      into.writeUInt32BE(crc32c(checked), start + BEFORE_CHECKED - 4)
      return at
    },
  }
}

/** A record's key and value, then its headers' names and values, with the length of each (-1: null). */
type SizedRecord = {
  readonly fields: readonly Field[]
  readonly lengths: readonly number[]
  readonly index: number
  readonly delay: number
  readonly size: number
}

type Field = string | Uint8Array | null

/** Key and value. */
const BEFORE_HEADERS = 2

function headersOf(fields: readonly Field[]): number {
  return (fields.length - BEFORE_HEADERS) / 2
}

function sized({ key, value, headers }: Message, index: number, delay: number): SizedRecord {
  const fields: Field[] = [key ?? null, value ?? null]
  for (const name in headers) {
    const given = headers[name] ?? ''
    // A header with several values comes once for each.
    if (!Array.isArray(given)) fields.push(name, given)
    else for (const one of given) fields.push(name, one)
  }
  const lengths: number[] = []
  let size = 1 + varintBytes(delay) + varintBytes(index) + varintBytes(headersOf(fields))
  for (const field of fields) {
    const length = field === null ? -1 : Buffer.byteLength(field)
    lengths.push(length)
    size += varintBytes(length) + Math.max(0, length)
  }
  return { fields, lengths, index, delay, size }
}

function writeRecord(record: SizedRecord, into: Buffer, start: number): number {
  const { fields, lengths, index, delay, size } = record
  let at = writeVarint(size, into, start)
  at = into.writeInt8(0, at) // attributes
  at = writeVarint(delay, into, at)
  at = writeVarint(index, into, at)
  for (let n = 0; n < BEFORE_HEADERS; n += 1)
    at = writeField(fields[n] ?? null, lengths[n]!, into, at)
  at = writeVarint(headersOf(fields), into, at)
  for (let n = BEFORE_HEADERS; n < fields.length; n += 1) {
    at = writeField(fields[n] ?? null, lengths[n]!, into, at)
  }
  return at
}

function writeField(field: Field, length: number, into: Buffer, start: number): number {
  const at = writeVarint(length, into, start)
  if (field === null) return at
  if (typeof field !== 'string') into.set(field, at)
  else if (length === field.length && length <= SHORT) writeAscii(field, into, at)
  else into.write(field, at)
  return at + length
}

/** Up to this length a text is written faster character by character than by a call of Node. */
const SHORT = 32

function writeAscii(text: string, into: Buffer, at: number): void {
  for (let index = 0; index < text.length; index += 1) into[at + index] = text.charCodeAt(index)
}

/** In the zigzag form: of a whole number from -1. */
function varintBytes(value: number): number {
  let rest = zigzag(value)
  let bytes = 1
  while (rest >= 128) {
    rest = Math.floor(rest / 128)
    bytes += 1
  }
  return bytes
}

function writeVarint(value: number, into: Buffer, start: number): number {
  let rest = zigzag(value)
  let at = start
  while (rest >= 128) {
    into[at] = (rest % 128) | 128
    rest = Math.floor(rest / 128)
    at += 1
  }
  into[at] = rest
  return at + 1
}

/** Beyond 32 bits, so without shifts: a batch may span any time. */
function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value
}
