import { objectOf, type JsonSchema } from '../../runtime/openapi/json-schema.ts'
import { FACT_TYPES } from '../../schemas/facts/facts.ts'
import { FACT } from '../fact-views.ts'
import { RECORD, TIME } from '../http/views.ts'

const TEXT: JsonSchema = objectOf({ text: { type: 'string' } }, { title: 'WebhookText' })

/** A fact with additional fields. */
const OPEN_FACT: JsonSchema = Object.fromEntries(
  Object.entries(FACT).filter(([name]) => name !== 'title' && name !== 'additionalProperties'),
)

const FACT_DATA: JsonSchema = {
  title: 'WebhookFact',
  allOf: [
    OPEN_FACT,
    {
      type: 'object',
      required: ['deviceName', 'text'],
      properties: {
        deviceName: { type: 'string' },
        text: { type: 'string', description: 'The event as a sentence' },
      },
    },
  ],
}

function body(type: JsonSchema, data: JsonSchema, title: string): JsonSchema {
  return objectOf(
    { type, timestamp: { ...TIME, description: 'When it happened' }, data },
    { title },
  )
}

const ITEMS = [
  body({ enum: [...FACT_TYPES] }, FACT_DATA, 'FactWebhook'),
  body({ enum: ['position'] }, RECORD, 'PositionWebhook'),
  body({ enum: ['gap', 'test'] }, TEXT, 'NoticeWebhook'),
]

const BATCH = body(
  { enum: ['batch'] },
  objectOf(
    {
      items: { type: 'array', items: { oneOf: ITEMS } },
      mark: { type: 'string', description: 'The mark of the feed after the last item' },
    },
    { title: 'WebhookBatch' },
  ),
  'BatchWebhook',
)

/** The bodies of webhook requests by their `type`, for the OpenAPI document. */
export const WEBHOOKS: Readonly<Record<string, JsonSchema>> = {
  ...Object.fromEntries(FACT_TYPES.map((type) => [type, ITEMS[0] ?? {}])),
  position: ITEMS[1] ?? {},
  gap: ITEMS[2] ?? {},
  test: ITEMS[2] ?? {},
  batch: BATCH,
}
