import Joi from 'joi'
import { ATTRIBUTES_SCHEMA, judgeAttributes } from './attributes.ts'
import { deviceIdFault } from '../devices/device-id.ts'
import { parseIso8601 } from '../text/iso-8601.ts'
import { EARLIEST, FURTHEST_AHEAD_MS, plainReport, type PositionReport } from './plain-report.ts'
import { COORDINATE_FIELDS, MEASUREMENT_FIELDS, type NumberField } from './report-fields.ts'
import { isJsonObject } from '../text/json-object.ts'

export type { PositionReport }

export type ReportFault = { readonly field: string; readonly message: string }

/**
 * Validates one position report. Returns the report, or all faults, each with the field and what to
 * send instead. Unknown fields are ignored; `null` counts as absent.
 */
export function parsePositionReport(
  body: unknown,
  { now }: { now: number },
): { report: PositionReport } | { faults: readonly ReportFault[] } {
  if (!isJsonObject(body)) {
    return { faults: [{ field: 'body', message: 'the body must be a JSON object' }] }
  }
  const plain = plainReport(body, { now })
  return plain === undefined ? parseByRules(body, { now }) : { report: plain }
}

/** The fault of an imported position without a time. */
export const NO_TIMESTAMP: ReportFault = {
  field: 'timestamp',
  message: 'timestamp is required for an imported position: the ISO 8601 time when it was recorded',
}

/** Validates a position to import, which must have a timestamp. */
export function parseImportedReport(
  fields: Readonly<Record<string, unknown>>,
  { now }: { now: number },
): ReturnType<typeof parsePositionReport> {
  const parsed = parsePositionReport(fields, { now })
  if (fields['timestamp'] !== undefined && fields['timestamp'] !== null) return parsed
  return { faults: [...('faults' in parsed ? parsed.faults : []), NO_TIMESTAMP] }
}

/** Parses a report by the rules below alone. */
export function parseByRules(
  fields: Readonly<Record<string, unknown>>,
  { now }: { now: number },
): ReturnType<typeof parsePositionReport> {
  const result = schema.validate(
    { ...pickKnownFields(fields), attributes: undefined },
    {
      abortEarly: false,
      convert: false,
      context: { now },
    },
  )
  const faults = (result.error?.details ?? []).map(({ path, message }) => ({
    field: path.join('.'),
    message,
  }))
  const judged = judgeAttributes(fields['attributes'])
  if ('faults' in judged) return { faults: [...faults, ...judged.faults] }
  if (faults.length > 0) return { faults }
  return { report: { ...replaceNegativeZeros(result.value as PositionReport), ...judged } }
}

/** The faults of a heartbeat's device id, its only field. */
export function deviceIdFaults(id: unknown): readonly ReportFault[] {
  const { error } = deviceId.validate(id, { convert: false })
  return (error?.details ?? []).map(({ message }) => ({ field: 'deviceId', message }))
}

/** Picks the fields by name, so that nothing else in the body (`__proto__` …) is read. */
function pickKnownFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(REPORT_RULES).map((name) => [name, fields[name]]))
}

// Control characters are written out, because tools differ in how they name them.
const DEVICE_ID_PATTERN =
  '^(?!\\.{1,2}$)[^\\s\\u0000-\\u001f\\u007f-\\u009f](?:[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f])?$'

const deviceId = Joi.string()
  .empty(null)
  .required()
  .meta({
    openapi: {
      type: 'string',
      minLength: 1,
      maxLength: 128,
      pattern: DEVICE_ID_PATTERN,
      description:
        'Any text of 1 to 128 UTF-16 code units but `.` and `..`, without control characters and without white space at its ends; no API key',
      examples: ['tracker-7'],
    },
  })
  .custom((text: string, helpers) => {
    const fault = deviceIdFault(text)
    return fault === undefined ? text : helpers.error('deviceId.fault', { fault })
  })
  .messages({
    'any.required': 'deviceId is required: the unique identifier of the device',
    'string.base': 'deviceId must be a string',
    'string.empty': 'deviceId must have 1 to 128 characters',
    'deviceId.fault': '{#fault}',
  })

const timestamp = Joi.any()
  .empty(null)
  .meta({
    openapi: {
      type: 'string',
      format: 'date-time',
      // Without leap seconds, which a date-time may have.
      pattern: '^(?!.*:60)[2-9]\\d{3}-?\\d\\d-?\\d\\d[Tt]',
      description:
        'When the position was recorded, not before 2000 and at most 24 h ahead; when absent, the time of receipt. Also taken: the basic form, without seconds, and without an offset (then it is UTC)',
      examples: ['2026-01-31T12:30:00Z'],
    },
  })
  .custom((value: unknown, helpers) => {
    const time = typeof value === 'string' ? parseIso8601(value) : undefined
    if (time === undefined) return helpers.error('timestamp.shape')
    if (time < EARLIEST) return helpers.error('timestamp.early')
    const { now } = helpers.prefs.context as { now: number }
    return time > now + FURTHEST_AHEAD_MS ? helpers.error('timestamp.late') : time
  })
  .messages({
    'timestamp.shape':
      'timestamp must be an ISO 8601 date and time, for example 2026-01-31T12:30:00Z',
    'timestamp.early': 'timestamp must not be before 2000-01-01T00:00:00Z',
    'timestamp.late': 'timestamp must not be more than 24 hours in the future',
  })

/** The rules of a report, field by field. */
export const REPORT_RULES: Readonly<Record<string, Joi.Schema>> = {
  deviceId,
  ...Object.fromEntries(COORDINATE_FIELDS.map((field) => [field.name, required(field)])),
  timestamp,
  ...Object.fromEntries(MEASUREMENT_FIELDS.map((field) => [field.name, optional(field)])),
  // Joi would word one fault for all of them: `judgeAttributes` names each.
  attributes: Joi.any()
    .empty(null)
    .meta({
      openapi: {
        ...ATTRIBUTES_SCHEMA,
        additionalProperties: {
          ...ATTRIBUTES_SCHEMA.additionalProperties,
          type: [...ATTRIBUTES_SCHEMA.additionalProperties.type, 'null'],
        },
      },
    }),
}

const schema = Joi.object(REPORT_RULES)

function required({ name, expected, ...field }: NumberField) {
  return optional({ name, expected, ...field })
    .required()
    .messages({ 'any.required': `${name} is required: ${expected}` })
}

function optional({ name, range: [min, max], expected, advice = '' }: NumberField) {
  return Joi.number()
    .unsafe()
    .empty(null)
    .min(min)
    .max(max)
    .meta({
      openapi: {
        type: 'number',
        minimum: min,
        ...(max < Number.MAX_VALUE && { maximum: max }),
        description: expected,
      },
    })
    .messages({ '*': `${name} must be ${expected}${advice}` })
}

function replaceNegativeZeros(report: PositionReport): PositionReport {
  const fields: Record<string, unknown> = { ...report }
  for (const [name, value] of Object.entries(fields)) if (value === 0) fields[name] = 0
  return fields as PositionReport
}
