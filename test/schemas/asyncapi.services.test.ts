import { randomBytes } from 'node:crypto'
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'
import { expect, test } from '@jest/globals'
import { openAvroFormat } from '../../event-log/kafka/avro-format.ts'
import { toMessage } from '../../event-log/kafka/event-format.ts'
import { DEVICE_SEEN_AVRO, POSITION_REPORTED_AVRO } from '../../schemas/events/avro-schemas.ts'
import { deviceSeen } from '../samples.ts'
import { describeWith } from '../services/describe-with.ts'
import { document, everyField, expectEnvelope } from './asyncapi-document.ts'

const { messages } = document.components

await describeWith(['schemaRegistry'], 'what the code writes as Avro', ({ schemaRegistry }) => {
  const { url } = schemaRegistry

  test('a consumer that knows only the document can read the topics', async () => {
    const heartbeat = deviceSeen({ battery: 0.42, attributes: { ignition: true } })
    const { accountId, deviceId, keyId, receivedAt, battery, attributes } = heartbeat
    const value = { accountId, deviceId, keyId, receivedAt, battery, attributes }
    const avro = await openFormats()
    for (const [event, described, expected] of [
      [everyField, messages.positionReportedAvro, everyField],
      [heartbeat, messages.deviceSeenAvro, value],
    ] as const) {
      const message = toMessage(event, { avro })
      expectEnvelope(message, described)
      const readerSchema = described.payload.schema
      const read: unknown = await new SchemaRegistry({ host: url }).decode(
        message.value as Buffer,
        { [SchemaType.AVRO]: { readerSchema } },
      )
      expect({ ...(read as object) }).toEqual(expected)
    }
  })

  async function openFormats() {
    const own = { url, clientId: 'test' }
    const subject = `asyncapi-${randomBytes(5).toString('hex')}`
    return {
      positions: await openAvroFormat({
        ...own,
        subject: `${subject}-value`,
        schema: POSITION_REPORTED_AVRO,
      }),
      heartbeats: await openAvroFormat({
        ...own,
        subject: `${subject}-seen-value`,
        schema: DEVICE_SEEN_AVRO,
      }),
    }
  }
})
