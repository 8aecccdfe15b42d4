import { EncodedRecord, varintBytes, writeVarint } from './encoded-record.ts'
import type { Message } from 'kafkajs'

type ProduceOptions = {
  readonly acks: number
  readonly timeout: number
  readonly transactionalId?: string | null
  readonly producerId: string | number
  readonly producerEpoch: number
  readonly compression?: number
  readonly topicData: readonly {
    readonly topic: string
    readonly partitions: readonly {
      readonly partition: number
      readonly firstSequence: number
      readonly messages: readonly Message[]
    }[]
  }[]
}

/** The parts of an encoder that kafkajs copies into another encoder. */
type Encoded = { readonly buf: Buffer; readonly buffer: Buffer }

type ProduceRequest = { encode: () => Promise<Encoded> }
type Produce = {
  protocol: (options: { version: number }) => (options: ProduceOptions) => {
    readonly request: ProduceRequest
  }
}

/**
 * From this version on a request carries record batches; up to version 8 its fields are the same.
 */
const WITH_RECORD_BATCHES = 3

/**
 * Makes kafkajs encode a produce request in one pass over one buffer. kafkajs's own encoder creates
 * a buffer for each header of each record and copies the whole several times, which was the largest
 * cost of a report. The bytes are the same.
 */
export function encodeInOnePass(load: NodeJS.Require): void {
  const produce = load('kafkajs/src/protocol/requests/produce') as Produce
  const { protocol } = produce
  produce.protocol = ({ version }) => {
    const make = protocol({ version })
    if (version < WITH_RECORD_BATCHES) return make
    return (options) => {
      const made = make(options)
      if (isPlain(options)) made.request.encode = async () => encodeAgain(produceRequest(options))
      return made
    }
  }
}

/**
 * Neither compressed nor transactional: this project uses neither, but other producers in the
 * process may. The tests use kafkajs's own encoder to write transactions, whose control records
 * readers of the log must skip.
 */
function isPlain({ compression = 0, transactionalId }: ProduceOptions): boolean {
  return compression === 0 && (transactionalId ?? undefined) === undefined
}

function encodeAgain(bytes: Buffer): Encoded {
  return { buf: bytes, buffer: bytes }
}

/** The body of a produce request, version 3 to 8 (https://kafka.apache.org/protocol). */
export function produceRequest({
  acks,
  timeout,
  topicData,
  producerId,
  producerEpoch,
}: ProduceOptions): Buffer {
  const topics = topicData.map(({ topic, partitions }) => ({
    name: Buffer.from(topic),
    batches: partitions.map(
      ({ partition, firstSequence, messages }) =>
        [partition, recordBatch(messages, { producerId, producerEpoch, firstSequence })] as const,
    ),
  }))
  const sizes = topics.map(({ name, batches }) => {
    return 2 + name.length + 4 + batches.reduce((sum, [, batch]) => sum + 8 + batch.bytes, 0)
  })
  const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + size, 12))
  let at = bytes.writeInt16BE(-1, 0)
  at = bytes.writeInt16BE(acks, at)
  at = bytes.writeInt32BE(timeout, at)
  at = bytes.writeInt32BE(topics.length, at)
  for (const { name, batches } of topics) {
    at = bytes.writeInt16BE(name.length, at)
    at += name.copy(bytes, at)
    at = bytes.writeInt32BE(batches.length, at)
    for (const [partition, batch] of batches) {
      at = bytes.writeInt32BE(partition, at)
      at = bytes.writeInt32BE(batch.bytes, at)
      at = batch.write(bytes, at)
    }
  }
  return bytes
}

/** Bytes before the first record, and how many of them the length and the checksum omit. */
const HEAD_BYTES = 61
const BEFORE_LENGTH_ENDS = 12
const BEFORE_CHECKED = 21

type RecordBatch = {
  readonly bytes: number
  /** Writes the batch and returns the index after it. */
  write(into: Buffer, at: number): number
}

/** Size of the attributes of a record, which are always 0. */
const ATTRIBUTES_BYTES = 1

/**
 * The messages of one partition as an uncompressed record batch of an idempotent producer, format 2
 * (https://kafka.apache.org/documentation/#recordbatch).
 */
function recordBatch(
  messages: readonly (Message | EncodedRecord)[],
  {
    producerId,
    producerEpoch,
    firstSequence,
  }: { producerId: string | number; producerEpoch: number; firstSequence: number },
): RecordBatch {
  const records = messages.map(encodeMessage)
  let first = Infinity
  let last = -Infinity
  for (const { time } of records) {
    if (time < first) first = time
    if (time > last) last = time
  }
  const sizes = records.map(({ time, value }, index) => {
    return ATTRIBUTES_BYTES + varintBytes(time - first) + varintBytes(index) + value.length
  })
  const bytes = sizes.reduce((sum, size) => sum + varintBytes(size) + size, HEAD_BYTES)

  return {
    bytes,
    write(into, start) {
      let at = into.writeBigInt64BE(0n, start)
      at = into.writeInt32BE(bytes - BEFORE_LENGTH_ENDS, at)
      at = into.writeInt32BE(0, at) // partition leader epoch
      at = into.writeInt8(2, at) // format
      at += 4 // checksum, below
      at = into.writeInt16BE(0, at) // attributes
      at = into.writeInt32BE(records.length - 1, at)
      at = into.writeBigInt64BE(BigInt(first), at)
      at = into.writeBigInt64BE(BigInt(last), at)
      at = into.writeBigInt64BE(BigInt(producerId), at)
      at = into.writeInt16BE(producerEpoch, at)
      at = into.writeInt32BE(firstSequence, at)
      at = into.writeInt32BE(records.length, at)
      for (let index = 0; index < records.length; index += 1) {
        const { time, value } = records[index]!
        at = writeVarint(sizes[index]!, into, at)
        into[at] = 0
        at = writeVarint(time - first, into, at + ATTRIBUTES_BYTES)
        at = writeVarint(index, into, at)
        into.set(value, at)
        at += value.length
      }
      const checked = into.subarray(start + BEFORE_CHECKED, at)
      into.writeUInt32BE(crc32c(checked), start + BEFORE_CHECKED - 4)
      return at
    },
  }
}

/** Messages of producers other than ours are not encoded yet. */
function encodeMessage(message: Message | EncodedRecord): EncodedRecord {
  if (message instanceof EncodedRecord) return message
  const { timestamp, ...content } = message
  return new EncodedRecord({
    ...content,
    ...(timestamp !== undefined && { time: Number(timestamp) }),
  })
}

/** The polynomial of iSCSI's CRC-32C in reflected form (RFC 3720). */
const POLYNOMIAL = 0x82f63b78
const AT_ONCE = 8

/** `TABLES[n * 256 + byte]`: the checksum of a byte followed by n zeros. */
const TABLES = new Int32Array(AT_ONCE * 256)
for (let byte = 0; byte < 256; byte += 1) {
  let sum = byte
  for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? POLYNOMIAL : 0)
  TABLES[byte] = sum
}
for (let at = 256; at < TABLES.length; at += 1) {
  const before = TABLES[at - 256]!
  TABLES[at] = (before >>> 8) ^ TABLES[before & 0xff]!
}

/** CRC-32C, eight bytes at a time: takes half the time of kafkajs's own. */
function crc32c(bytes: Buffer): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const whole = bytes.length - (bytes.length % AT_ONCE)
  let sum = -1
  for (let at = 0; at < whole; at += AT_ONCE) {
    const low = sum ^ view.getInt32(at, true)
    const high = view.getInt32(at + 4, true)
    sum =
      TABLES[0x700 + (low & 0xff)]! ^
      TABLES[0x600 + ((low >>> 8) & 0xff)]! ^
      TABLES[0x500 + ((low >>> 16) & 0xff)]! ^
      TABLES[0x400 + (low >>> 24)]! ^
      TABLES[0x300 + (high & 0xff)]! ^
      TABLES[0x200 + ((high >>> 8) & 0xff)]! ^
      TABLES[0x100 + ((high >>> 16) & 0xff)]! ^
      TABLES[high >>> 24]!
  }
  for (let at = whole; at < bytes.length; at += 1) {
    sum = (sum >>> 8) ^ TABLES[(sum ^ bytes[at]!) & 0xff]!
  }
  return ~sum >>> 0
}
