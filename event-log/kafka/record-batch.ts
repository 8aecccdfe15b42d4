import { createRequire } from 'node:module'
import type { IHeaders, Message } from 'kafkajs'

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

/** A record's fields, and the size of what follows its own length. */
type SizedRecord = {
  readonly fields: Pick<Message, 'key' | 'value'>
  readonly headers: readonly Header[]
  readonly index: number
  readonly delay: number
  readonly size: number
}

type Header = readonly [name: string, value: string | Buffer]

function sized({ key, value, headers }: Message, index: number, delay: number): SizedRecord {
  const list = headers === undefined ? [] : listed(headers)
  let size = 1 + varintBytes(delay) + varintBytes(index) + fieldBytes(key) + fieldBytes(value)
  size += varintBytes(list.length)
  for (const [name, text] of list) size += fieldBytes(name) + fieldBytes(text)
  return { fields: { key: key ?? null, value }, headers: list, index, delay, size }
}

/** A header with several values comes once for each. */
function listed(headers: IHeaders): Header[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? '']).map((one): Header => [name, one]),
  )
}

function writeRecord(record: SizedRecord, into: Buffer, start: number): number {
  const { fields, headers, index, delay, size } = record
  let at = writeVarint(size, into, start)
  at = into.writeInt8(0, at) // attributes
  at = writeVarint(delay, into, at)
  at = writeVarint(index, into, at)
  at = writeField(fields.key, into, at)
  at = writeField(fields.value, into, at)
  at = writeVarint(headers.length, into, at)
  for (const [name, value] of headers) {
    at = writeField(name, into, at)
    at = writeField(value, into, at)
  }
  return at
}

type Field = Message['key'] | Message['value']

function fieldBytes(field: Field): number {
  if (field === null || field === undefined) return varintBytes(-1)
  const length = Buffer.byteLength(field)
  return varintBytes(length) + length
}

function writeField(field: Field, into: Buffer, start: number): number {
  if (field === null || field === undefined) return writeVarint(-1, into, start)
  const at = writeVarint(Buffer.byteLength(field), into, start)
  if (typeof field === 'string') return at + into.write(field, at)
  into.set(field, at)
  return at + field.length
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
