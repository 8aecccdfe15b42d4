import type { Message } from 'kafkajs'
import { recordBatch } from './record-batch.ts'

type ProduceOptions = {
  readonly acks: number
  readonly timeout: number
  readonly producerId: string | number
  readonly producerEpoch: number
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

/**
 * Makes kafkajs encode a produce request in one pass over one buffer. Its own encoder makes a buffer
 * for each header of each record and several copies of the whole, which was the largest cost of a
 * report. The bytes are the same, for an idempotent producer without compression and transactions.
 */
export function encodeInOnePass(load: NodeJS.Require): void {
  const produce = load('kafkajs/src/protocol/requests/produce') as Produce
  const { protocol } = produce
  produce.protocol = (version) => (options) => {
    const made = protocol(version)(options)
    made.request.encode = async () => {
      const bytes = produceRequest(options)
      return { buf: bytes, buffer: bytes }
    }
    return made
  }
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
