import { createRequire } from 'node:module'
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Message } from 'kafkajs'
import { patchKafkajs } from '../../../../event-log/kafka/kafkajs/patch.ts'
import { produceRequest } from '../../../../event-log/kafka/kafkajs/produce-request.ts'

type Options = Parameters<typeof produceRequest>[0]
type MakeRequest = (options: Options) => { encode: () => Promise<{ buffer: Buffer }> }

const require = createRequire(import.meta.url)
const ofKafkaJs = require('kafkajs/src/protocol/requests/produce/v3/request') as MakeRequest

// Includes the length from which the length prefix takes two bytes.
const ascii = fc.oneof(fc.string({ maxLength: 300 }), fc.string({ minLength: 62, maxLength: 65 }))
const latin1 = fc.string({ unit: fc.nat({ max: 255 }).map((code) => String.fromCharCode(code)) })
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), latin1, ascii)
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array))
const field = fc.oneof(text, bytes)
const header = fc.oneof(field, fc.array(field, { maxLength: 3 }))
const headers = fc.oneof(
  fc.dictionary(text, header, { maxKeys: 6 }),
  fc.dictionary(ascii, ascii, { maxKeys: 3 }),
)
// As many digits each: kafkajs sorts times as texts.
const time = fc.integer({ min: 1_000_000_000_000, max: 9_999_999_999_999 }).map(String)
const message: fc.Arbitrary<Message> = fc.record(
  {
    key: fc.option(field),
    value: fc.option(field),
    timestamp: time,
    headers,
  },
  { requiredKeys: ['value', 'timestamp'] },
)
const partition = fc.record({
  partition: fc.nat({ max: 100 }),
  firstSequence: fc.nat({ max: 0x7fffffff }),
  messages: fc.array(message, { minLength: 1, maxLength: 5 }),
})
const options: fc.Arbitrary<Options> = fc.record({
  acks: fc.constantFrom(-1, 1),
  timeout: fc.nat({ max: 0x7fffffff }),
  producerId: fc.oneof(fc.nat(), fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String)),
  producerEpoch: fc.nat({ max: 0x7fff }),
  topicData: fc.array(
    fc.record({ topic: text, partitions: fc.array(partition, { maxLength: 3 }) }),
    { maxLength: 2 },
  ),
})

test('a produce request equals the one by kafkajs, byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(options, async (given) => {
      const { buffer } = await ofKafkaJs(given).encode()
      expect(produceRequest(given).toString('hex')).toBe(buffer.toString('hex'))
    }),
    { numRuns: 1_000 },
  )
})

test('kafkajs produces with this encoding', async () => {
  patchKafkajs()
  const { protocol } = require('kafkajs/src/protocol/requests/produce') as {
    protocol: (options: { version: number }) => (options: Options) => {
      request: ReturnType<MakeRequest>
    }
  }
  const given: Options = {
    acks: -1,
    timeout: 1,
    producerId: 7,
    producerEpoch: 0,
    topicData: [
      {
        topic: 't',
        partitions: [
          { partition: 0, firstSequence: 0, messages: [{ value: 'v', timestamp: '1' }] },
        ],
      },
    ],
  }
  const one = protocol({ version: 7 })(given).request
  expect((await one.encode()).buffer).toEqual(produceRequest(given))
})
