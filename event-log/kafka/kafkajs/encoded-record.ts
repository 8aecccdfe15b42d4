import type { Message } from 'kafkajs'

/** A message for the log; without a time it gets the current time. */
export type LogMessage = Pick<Message, 'key' | 'value' | 'headers'> & { readonly time?: number }

/**
 * A message encoded for a record batch. kafkajs treats it as any message and reads only its
 * partition.
 */
export class EncodedRecord {
  readonly key: string | Buffer | null
  readonly partition: number
  readonly time: number
  /** The bytes from the key to the last header; the fields before the key depend on the batch. */
  readonly value: Buffer

  constructor(message: LogMessage, partition = 0) {
    this.key = message.key ?? null
    this.partition = partition
    this.time = message.time ?? Date.now()
    this.value = encodeRecord(message)
  }

  /** The record's maximum size in a batch. */
  get bytes(): number {
    return this.value.length + MOST_BEFORE_CONTENT_BYTES
  }
}

/** The number of bytes of an integer ≥ -1 in zigzag form. */
export function varintBytes(value: number): number {
  let rest = zigzag(value)
  let bytes = 1
  while (rest >= 128) {
    rest = Math.floor(rest / 128)
    bytes += 1
  }
  return bytes
}

/** Returns the index after the number. */
export function writeVarint(value: number, into: Uint8Array, start: number): number {
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

/** Without shifts, because numbers exceed 32 bits: a batch may span any time. */
function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value
}

type Field = string | Uint8Array | null

/** The fields before the content: size, attributes, time delta, offset delta. */
const MOST_BEFORE_CONTENT_BYTES = 20
/** Maximum UTF-8 bytes for one UTF-16 code unit. */
const MOST_BYTES = 3
const MOST_LENGTH_BYTES = 5
/**
 * A loop writes a short ASCII text faster than Buffer does: a record takes 0.9 µs instead of 1.3.
 */
const SHORT = 32
const BLOCK_BYTES = 64 * 1024

/** Records are written back to back into blocks, because a buffer for each takes longer. */
let block = Buffer.alloc(0)
let used = 0

function encodeRecord({ key = null, value, headers = {} }: LogMessage): Buffer {
  let fields = 0
  let most = mostBytes(key) + mostBytes(value) + MOST_LENGTH_BYTES
  for (const name in headers) {
    for (const one of valuesOf(headers[name])) {
      fields += 1
      most += mostBytes(name) + mostBytes(one)
    }
  }
  const start = room(most)
  let at = writeField(value, writeField(key, start))
  at = writeVarint(fields, block, at)
  for (const name in headers) {
    for (const one of valuesOf(headers[name])) at = writeField(one, writeField(name, at))
  }
  used = at
  return block.subarray(start, used)
}

/** A header with several values is repeated for each. */
function valuesOf(header: NonNullable<LogMessage['headers']>[string] = ''): readonly Field[] {
  return Array.isArray(header) ? header : [header]
}

function mostBytes(field: Field): number {
  if (field === null) return MOST_LENGTH_BYTES
  return MOST_LENGTH_BYTES + (typeof field === 'string' ? MOST_BYTES : 1) * field.length
}

/** Reserves bytes in the block. */
function room(bytes: number): number {
  if (block.length - used < bytes) {
    block = Buffer.allocUnsafeSlow(Math.max(bytes, BLOCK_BYTES))
    used = 0
  }
  return used
}

function writeField(field: Field, start: number): number {
  if (field === null) return writeVarint(-1, block, start)
  const at = writeVarint(field.length, block, start)
  if (typeof field !== 'string') {
    block.set(field, at)
    return at + field.length
  }
  if (field.length <= SHORT && writeAscii(field, at)) return at + field.length
  const bytes = block.write(field, at)
  if (bytes === field.length) return at + bytes
  const behind = writeVarint(bytes, block, start)
  return behind + block.write(field, behind)
}

/** False if the text is not ASCII. */
function writeAscii(text: string, start: number): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code > 127) return false
    block[start + at] = code
  }
  return true
}
