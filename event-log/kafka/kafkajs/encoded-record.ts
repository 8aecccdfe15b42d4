import type { IHeaders, Message } from 'kafkajs'
import { varintBytes, writeVarint } from './varint.ts'

/** A message for the log; without a time it gets the present one. */
export type LogMessage = Pick<Message, 'key' | 'value' | 'headers'> & { readonly time?: number }

/**
 * A message encoded for a record batch. To kafkajs it is a message like any other, of which it reads
 * only the partition.
 */
export class EncodedRecord {
  readonly partition: number
  readonly time: number
  /** From the key to the last header; the fields before the key depend on the batch. */
  readonly value: Buffer

  constructor(message: LogMessage, partition = 0) {
    this.partition = partition
    this.time = message.time ?? Date.now()
    this.value = usual(message) ?? any(message)
  }

  /** Its size in a batch, at most. */
  get bytes(): number {
    return this.value.length + MOST_BEFORE_CONTENT_BYTES
  }
}

type Field = string | Uint8Array | null

/** The fields before the content: size, attributes, time delta, offset delta. */
const MOST_BEFORE_CONTENT_BYTES = 20
/** A text of up to so many bytes has its length in one byte, which is an ASCII character. */
const SHORT = 63
const LENGTHS = Array.from({ length: SHORT + 1 }, (_, length) => String.fromCharCode(2 * length))
/** The most bytes of UTF-8 that one UTF-16 code unit takes. */
const MOST_BYTES = 3
const MOST_LENGTH_BYTES = 5

/** The content of an event's record, in few steps; undefined if the message is of another kind. */
function usual({ key, value, headers = {} }: LogMessage): Buffer | undefined {
  if (typeof key !== 'string' || value === null) return undefined
  const last = shortHeaders(headers)
  if (last === undefined) return undefined
  const most = MOST_BYTES * (key.length + value.length + last.length) + 2 * MOST_LENGTH_BYTES
  const start = room(most)
  let at = writeText(key, start)
  at = typeof value === 'string' ? writeText(value, at) : writeBytes(value, at)
  const bytes = block.write(last, at)
  if (bytes !== last.length) return undefined
  used = at + bytes
  return block.subarray(start, used)
}

/** The headers in the form of a record, if all of them are short texts. */
function shortHeaders(headers: IHeaders): string | undefined {
  let count = 0
  let text = ''
  for (const name in headers) {
    const value = headers[name]
    if (typeof value !== 'string' || name.length > SHORT || value.length > SHORT) return undefined
    text += LENGTHS[name.length]! + name + LENGTHS[value.length]! + value
    count += 1
  }
  return count > SHORT ? undefined : LENGTHS[count]! + text
}

const BLOCK_BYTES = 64 * 1024
let block = Buffer.alloc(0)
let used = 0

/** The place in the block for so many bytes. */
function room(bytes: number): number {
  if (block.length - used < bytes) {
    block = Buffer.allocUnsafeSlow(Math.max(bytes, BLOCK_BYTES))
    used = 0
  }
  return used
}

function writeText(text: string, start: number): number {
  const at = writeVarint(text.length, block, start)
  const bytes = block.write(text, at)
  if (bytes === text.length) return at + bytes
  const behind = writeVarint(bytes, block, start)
  return behind + block.write(text, behind)
}

function writeBytes(bytes: Buffer, start: number): number {
  const at = writeVarint(bytes.length, block, start)
  block.set(bytes, at)
  return at + bytes.length
}

function any({ key = null, value, headers = {} }: LogMessage): Buffer {
  const fields: Field[] = []
  for (const [name, given = ''] of Object.entries(headers)) {
    // A header with several values is repeated for each.
    for (const one of Array.isArray(given) ? given : [given]) fields.push(name, one)
  }
  return Buffer.concat([
    ...[key, value].flatMap(withLength),
    varint(fields.length / 2),
    ...fields.flatMap(withLength),
  ])
}

function withLength(field: Field): Uint8Array[] {
  if (field === null) return [varint(-1)]
  const bytes = Buffer.from(field)
  return [varint(bytes.length), bytes]
}

function varint(value: number): Uint8Array {
  const bytes = new Uint8Array(varintBytes(value))
  writeVarint(value, bytes, 0)
  return bytes
}
