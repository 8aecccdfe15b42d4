import { randomBytes } from 'node:crypto'
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'
import { expect, test } from '@jest/globals'
import { openAvroFormat } from '../../event-log/kafka/avro-format.ts'
import { toMessage } from '../../event-log/kafka/event-format.ts'
import { describeWith } from '../services/describe-with.ts'
import { document, everyField, expectEnvelope } from './asyncapi-document.ts'

const { messages } = document.components

await describeWith(['schemaRegistry'], 'what the code writes as Avro', ({ schemaRegistry }) => {
  const { url } = schemaRegistry

  test('is read by who knows only the document', async () => {
    const subject = `asyncapi-${randomBytes(5).toString('hex')}-value`
    const avro = await openAvroFormat({ url, clientId: 'test', subject })
    const message = await toMessage(everyField, { avro })
    expectEnvelope(message, messages.positionReportedAvro)

    const readerSchema = messages.positionReportedAvro.payload.schema
    const read: unknown = await new SchemaRegistry({ host: url }).decode(message.value as Buffer, {
      [SchemaType.AVRO]: { readerSchema },
    })
    expect({ ...(read as object) }).toEqual(everyField)
  })
})
