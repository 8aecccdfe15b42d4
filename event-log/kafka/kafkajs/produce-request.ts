import type { Message } from 'kafkajs'
import { recordBatch } from './record-batch.ts'

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

/** The parts of an encoder that kafkajs copies into another one. */
type Encoded = { readonly buf: Buffer; readonly buffer: Buffer }

type ProduceRequest = { encode: () => Promise<Encoded> }
type Produce = {
  protocol: (options: { version: number }) => (options: ProduceOptions) => {
    readonly request: ProduceRequest
  }
}

/** From this version on a request carries record batches; up to version 8 its fields are the same. */
const WITH_RECORD_BATCHES = 3

/**
 * Makes kafkajs encode a produce request in one pass over one buffer. Its own encoder makes a buffer
 * for each header of each record and several copies of the whole, which was the largest cost of a
 * report. The bytes are the same.
 */
export function encodeInOnePass(load: NodeJS.Require): void {
  const produce = load('kafkajs/src/protocol/requests/produce') as Produce
  const { protocol } = produce
  produce.protocol = ({ version }) => {
    const make = protocol({ version })
    if (version < WITH_RECORD_BATCHES) return make
    return (options) => {
      const made = make(options)
      if (isPlain(options)) made.request.encode = async () => encoded(produceRequest(options))
      return made
    }
  }
}

/**
 * Neither compressed nor transactional: this project uses neither, but other producers in the process may.
 * The tests write transactions, whose marks readers of the log must pass over, with kafkajs's own encoder.
 */
function isPlain({ compression = 0, transactionalId }: ProduceOptions): boolean {
  return compression === 0 && (transactionalId ?? undefined) === undefined
}

function encoded(bytes: Buffer): Encoded {
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
