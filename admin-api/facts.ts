import { Readable } from 'node:stream'
import { invalidParams } from '../runtime/errors.ts'
import { openPages, readPages } from '../runtime/process/read-pages.ts'
import { FACT_TYPES, type DeviceFact } from '../schemas/facts/facts.ts'
import { isHandledType } from '../schemas/facts/handling.ts'
import { factView } from '../schemas/facts/view.ts'
import type { DevicePlace } from '../store/read-models.ts'
import type { Store } from '../store/store.ts'
import { handledFactView, HANDLED_FACT } from './fact-views.ts'
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

const FACT_PARAMETERS = {
  ...PAGE_PARAMETERS,
  type: choice(FACT_TYPES, { expected: `type must be ${FACT_TYPES.join(' or ')}` }).described(
    'Only events of this type',
  ),
  deviceId: textParameter('deviceId', 128).described('Only events of this device'),
  label: labelParameter.described(
    'Only events of devices that have this label now; if repeated, all of these labels',
  ),
  geofenceId: textParameter('geofenceId', 128).described('Only events about this geofence'),
  ruleId: textParameter('ruleId', 128).described('Only events about this rule'),
  ...rangeParameters('`at`'),
  format: choice(['json', 'csv'], { expected: 'format must be json or csv' })
    .withDefault('json')
    .described('json is a page of the list; csv is the whole range as a file'),
}

/** Facts in memory at a time. */
const EXPORTED_AT_ONCE = 250
const LABELLED_AT_ONCE = 5_000

/** The facts of the account's devices. */
export function factRoutes({
  store,
}: {
  store: Pick<Store, 'pageFacts' | 'findHandlings' | 'placeDevices'>
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
    if (geofenceId !== undefined && ruleId !== undefined) throw conflictingFiltersError()
    const definitionId = geofenceId ?? ruleId
    const query = {
      accountId,
      ...others,
      ...(definitionId !== undefined && { definitionId }),
      ...(devices !== undefined && { devices }),
      ...(labels !== undefined && { deviceIds: await findLabelledDevices(accountId, labels) }),
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
    const factIds = items.filter(({ type }) => isHandledType(type)).map(({ id }) => id)
    const handlings = await store.findHandlings({ accountId, factIds })
    const view = (fact: DeviceFact) => handledFactView(fact, handlings.get(fact.id))
    await answerPage(ctx, { list, limit, items, placeOf, view })
  }

  /** The ids of the devices that have all of these labels. */
  async function findLabelledDevices(
    accountId: string,
    labels: readonly string[],
  ): Promise<string[]> {
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
      summary: 'Lists events of devices, latest first',
      description: DESCRIPTION,
      needs: 'viewer',
      scope: 'positions:read',
      query: FACT_PARAMETERS,
      compressed: true,
      answer: { data: pageOf(HANDLED_FACT), content: { [CSV]: FACT_ROWS } },
      handle: list,
    }),
  ]
}

function conflictingFiltersError(): Error {
  const message = 'geofenceId and ruleId exclude each other: no event is about both'
  return invalidParams([{ field: 'ruleId', message }])
}

/** The first page is read before this returns, so an unavailable store causes a 503. */
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
    ...('geofence' in fact && toDefinitionColumns(fact.geofence)),
    ...('rule' in fact && toDefinitionColumns(fact.rule)),
  }
  return COLUMNS.map((name) => {
    const cell = row[name] ?? undefined
    return typeof cell === 'boolean' ? String(cell) : (cell as string | number | undefined)
  })
}

/** The geofence or rule of a row. */
function toDefinitionColumns({ id, name }: { readonly id: string; readonly name: string }) {
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
  description: `RFC 4180 with a header row: ${COLUMNS.join(', ')}. A text that starts with =, +, -, @, a tab or a line break has an apostrophe before it`,
}

const DESCRIPTION = `
An event is a decision about a device, made once and recorded: it came online or went offline, entered or left a geofence,
a rule was raised or cleared for it, or it reported an alarm. Erasing a device removes its events.
\`format=csv\` returns the whole range as a file, streamed without a Content-Length.
`.trim()
