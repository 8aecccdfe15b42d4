import { Readable } from 'node:stream'
import { invalidParams } from '../runtime/errors.ts'
import { objectOf } from '../runtime/openapi/json-schema.ts'
import { openPages, readPages } from '../runtime/process/read-pages.ts'
import { FACT_TYPES, type DeviceFact } from '../schemas/facts/facts.ts'
import { factView } from '../schemas/facts/view.ts'
import type { DevicePlace } from '../store/read-models.ts'
import type { Store } from '../store/store.ts'
import { csvText } from './devices/export/csv.ts'
import { labelParameter } from './devices/label-rules.ts'
import {
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
  type JsonSchema,
} from './http/admin-route.ts'
import { answerPage, pageOf } from './http/answer-page.ts'
import { deviceList, type Caller } from './http/caller.ts'
import { readCursor } from './http/cursor.ts'
import { PAGE_PARAMETERS, rangeParameters, requireRange, textParameter } from './http/query.ts'
import { choice, type InputOf } from './http/rule.ts'
import { RECORD, TIME } from './http/views.ts'

const FACT_PARAMETERS = {
  ...PAGE_PARAMETERS,
  type: choice(FACT_TYPES, { expected: `type must be ${FACT_TYPES.join(' or ')}` }).described(
    'Only facts of this type',
  ),
  deviceId: textParameter('deviceId', 128).described('Only facts of this device'),
  label: labelParameter.described(
    'Only facts of devices that have this label now; if it is repeated, all of them',
  ),
  geofenceId: textParameter('geofenceId', 128).described('Only facts about this geofence'),
  ruleId: textParameter('ruleId', 128).described('Only facts about this rule'),
  ...rangeParameters('`at`'),
  format: choice(['json', 'csv'], { expected: 'format must be json or csv' })
    .withDefault('json')
    .described('json is a page of the list; csv is the whole range as a file'),
}

/** Facts held in memory at a time. */
const EXPORTED_AT_ONCE = 250
const LABELLED_AT_ONCE = 5_000

/** The facts of the account's devices. */
export function factRoutes({
  store,
}: {
  store: Pick<Store, 'pageFacts' | 'placeDevices'>
}): AdminRoute[] {
  async function list(
    ctx: AdminContext,
    caller: Caller,
    { query: { limit, cursor, format, ...filter } }: Input<InputOf<typeof FACT_PARAMETERS>>,
  ): Promise<void> {
    requireRange(filter)
    const { accountId } = caller
    const devices = deviceList(caller)
    const { geofenceId, ruleId, label: labels, ...others } = filter
    if (geofenceId !== undefined && ruleId !== undefined) throw bothGiven()
    const definitionId = geofenceId ?? ruleId
    const query = {
      accountId,
      ...others,
      ...(definitionId !== undefined && { definitionId }),
      ...(devices !== undefined && { devices }),
      ...(labels !== undefined && { deviceIds: await labelled(accountId, labels) }),
    }
    if (format === 'csv') return exportFacts(ctx, query, store)
    const list = { name: 'facts', accountId, filter }
    const place = readCursor(cursor, list, ['number', 'number', 'text'])
    const items = await store.pageFacts({
      ...query,
      limit: limit + 1,
      ...(place !== undefined && { after: { at: place[0], sequence: place[1], id: place[2] } }),
    })
    const placeOf = ({ at, sequence, id }: DeviceFact) => [at, sequence, id] as const
    await answerPage(ctx, { list, limit, items, placeOf, view: factView })
  }

  /** The ids of the devices that have all of these labels. */
  async function labelled(accountId: string, labels: readonly string[]): Promise<string[]> {
    const ids: string[] = []
    const pages = readPages<DevicePlace>(LABELLED_AT_ONCE, (page) =>
      store.placeDevices({ accountId, labels, ...page }),
    )
    for await (const page of pages) ids.push(...page.map(({ deviceId }) => deviceId))
    return ids
  }

  return [
    route({
      method: 'GET',
      path: '/facts',
      summary: 'Lists what happened to devices, the latest first',
      description: DESCRIPTION,
      needs: 'viewer',
      scope: 'positions:read',
      query: FACT_PARAMETERS,
      compressed: true,
      answer: { data: pageOf(FACT), content: { [CSV]: FACT_ROWS } },
      handle: list,
    }),
  ]
}

function bothGiven(): Error {
  const message = 'geofenceId and ruleId exclude each other: no fact is about both'
  return invalidParams([{ field: 'ruleId', message }])
}

/** The first page is read before this returns, so an unavailable store is a 503. */
async function exportFacts(
  ctx: AdminContext,
  query: Omit<Parameters<Store['pageFacts']>[0], 'limit' | 'after'>,
  store: Pick<Store, 'pageFacts'>,
): Promise<void> {
  const pages = await openPages<DeviceFact>(EXPORTED_AT_ONCE, (page) =>
    store.pageFacts({ ...query, ...page }),
  )
  ctx.set('Content-Type', CSV)
  ctx.attachment('facts.csv')
  ctx.body = Readable.from(rows(pages))
}

async function* rows(pages: AsyncIterable<readonly DeviceFact[]>): AsyncGenerator<string> {
  yield csvText([[...COLUMNS]])
  for await (const page of pages) yield csvText(page.map(cells))
}

function cells(fact: DeviceFact): (string | number | undefined)[] {
  const { position, ...view } = factView(fact)
  const row: Readonly<Record<string, unknown>> = {
    ...view,
    recordId: position?.recordId,
    latitude: position?.latitude,
    longitude: position?.longitude,
    timestamp: position?.timestamp,
    ...('geofence' in fact && named(fact.geofence)),
    ...('rule' in fact && named(fact.rule)),
  }
  return COLUMNS.map((name) => {
    const cell = row[name] ?? undefined
    return typeof cell === 'boolean' ? String(cell) : (cell as string | number | undefined)
  })
}

/** The geofence or rule of a row. */
function named({ id, name }: { readonly id: string; readonly name: string }) {
  return { definitionId: id, definition: name }
}

const COLUMNS = [
  'id',
  'type',
  'sequence',
  'deviceId',
  'at',
  'decidedAt',
  'previous',
  'alarm',
  'late',
  'definitionId',
  'definition',
  'enteredAt',
  'raisedAt',
  'seconds',
  'value',
  'recordId',
  'latitude',
  'longitude',
  'timestamp',
] as const

const CSV = 'text/csv; charset=utf-8'

const FACT_ROWS: JsonSchema = {
  title: 'FactRows',
  type: 'string',
  description: `RFC 4180 with a header row: ${COLUMNS.join(', ')}. A text that begins with =, +, -, @, a tab or a line break has an apostrophe before it`,
}

const DESCRIPTION = `
A fact is a decision about a device, made once and recorded: it came online or went offline, entered or left a geofence,
a rule was raised or cleared for it, it reported an alarm.
Facts of an erased device are gone. \`format=csv\` is the whole range as a file, which comes as it is read, without a
Content-Length.
`.trim()

export const FACT: JsonSchema = objectOf(
  {
    id: { type: 'string', description: 'ULID; its time is `at`' },
    type: { enum: [...FACT_TYPES] },
    sequence: {
      type: 'integer',
      minimum: 1,
      description: 'Numbers the facts of a device without gaps; starts at 1 again after an erasure',
    },
    deviceId: { type: 'string' },
    at: { ...TIME, description: 'When it happened' },
    decidedAt: { ...TIME, description: 'When the service decided it' },
    previous: {
      type: ['string', 'null'],
      description: '`device.online`: `offline`, or null at the first report ever',
    },
    alarm: { type: 'string', description: '`alarm.reported`: its name' },
    late: {
      type: 'boolean',
      description: '`alarm.reported`: a newer position was known already',
    },
    geofence: objectOf(
      {
        id: { type: 'string' },
        externalId: { type: 'string' },
        name: { type: 'string' },
        revision: { type: 'integer' },
        properties: { type: 'object', additionalProperties: { type: 'string' } },
      },
      {
        title: 'GeofenceOfFact',
        optional: ['externalId', 'properties'],
        description: '`geofence.entered` and `geofence.left`',
      },
    ),
    enteredAt: {
      ...TIME,
      type: ['string', 'null'],
      description: '`geofence.left`: null if it was inside when the geofence came into force',
    },
    rule: objectOf(
      { id: { type: 'string' }, name: { type: 'string' }, revision: { type: 'integer' } },
      { title: 'RuleOfFact', description: '`rule.raised` and `rule.cleared`' },
    ),
    value: {
      type: ['number', 'string', 'boolean'],
      description: 'Of a rule on a field: the value that it was judged by',
    },
    raisedAt: { ...TIME, description: '`rule.cleared`' },
    seconds: {
      type: ['number', 'null'],
      description: 'How long the device was inside or the rule raised; null if unknown',
    },
    position: RECORD,
    inside: {
      type: 'array',
      items: { type: 'string' },
      description:
        'The ids of the geofences that the device is in after it, at most 100: those that it entered last',
    },
    suppressed: {
      type: 'integer',
      minimum: 1,
      description:
        'The number of decisions since the fact before that became no facts, because the device makes too many',
    },
  },
  {
    title: 'Fact',
    optional: [
      'previous',
      'alarm',
      'late',
      'geofence',
      'enteredAt',
      'rule',
      'value',
      'raisedAt',
      'seconds',
      'position',
      'suppressed',
    ],
  },
)
