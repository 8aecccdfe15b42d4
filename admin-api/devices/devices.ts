import type { Clock } from '../../runtime/clock.ts'
import { ApiError } from '../../runtime/errors.ts'
import { succeed } from '../../runtime/http.ts'
import { telemetryOf } from '../../schemas/device-readings.ts'
import { isListed } from '../../schemas/device-list.ts'
import { liveness, type Device } from '../../schemas/read-models.ts'
import type { Store } from '../../store/store.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
  type JsonSchema,
} from '../http/admin-route.ts'
import { answerInParts } from '../http/answer-in-parts.ts'
import { pageOf } from '../http/answer-page.ts'
import { deviceList, type Caller } from '../http/caller.ts'
import { readCursor, writeCursor } from '../http/cursor.ts'
import { DEVICE_FILTER_PARAMETERS, devicePage } from './device-filter.ts'
import { DEFAULT_LIMIT, limitParameter, PAGE_PARAMETERS } from '../http/query.ts'
import { recordAction } from '../http/record-action.ts'
import { requireChange } from '../http/body.ts'
import { nameRule } from '../http/name-rule.ts'
import { requireRight } from '../http/rights.ts'
import { flag, numberBetween, type InputOf } from '../http/rule.ts'
import { isoTime, POSITION, positionView, TELEMETRY, telemetryView, TIME } from '../http/views.ts'
import { LABELS, labelsRule } from './label-rules.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'

const LONGEST_INTERVAL_SECONDS = 366 * 24 * 60 * 60

/** Few enough to read, view and write in a turn even if each has all attributes. */
const FOUND_AT_ONCE = 250

const CHANGES = {
  name: nameRule('name').orNull(),
  disabled: flag('disabled'),
  expectedIntervalSeconds: numberBetween({
    min: 1,
    max: LONGEST_INTERVAL_SECONDS,
    expected: `expectedIntervalSeconds must be a number of seconds from 1 to ${LONGEST_INTERVAL_SECONDS}, or null`,
  }).orNull(),
  labels: labelsRule('labels'),
}

const LIST_PARAMETERS = {
  ...PAGE_PARAMETERS,
  limit: limitParameter(10_000).withDefault(DEFAULT_LIMIT),
  ...DEVICE_FILTER_PARAMETERS,
}

const CHANGE_DESCRIPTION = `
\`disabled\` needs the role admin. \`labels\` replaces all labels of the device; \`[]\` removes them. A disabled
device that retention has removed can still be enabled.
`.trim()

const LIST_DESCRIPTION = `
By \`deviceId\`, pages read one after the other hold each device once. In another order, a device
whose value changes meanwhile moves, and may be shown twice or not at all.
`.trim()

/** The last positions of devices, their statuses and their settings. */
export function deviceRoutes({ store, clock }: { store: Store; clock: Clock }): AdminRoute[] {
  async function list(
    ctx: AdminContext,
    caller: Caller,
    { query: { limit, cursor, ...filter } }: Input<InputOf<typeof LIST_PARAMETERS>>,
  ): Promise<void> {
    const { accountId } = caller
    const devices = deviceList(caller)
    const list = { name: 'devices', accountId, filter }
    const now = clock.now()
    const page = devicePage(filter, now)
    const after = readCursor(cursor, list, ['text', 'measure or none'])
    const places = await store.placeDevices({
      accountId,
      ...page,
      ...(devices !== undefined && { devices }),
      limit: limit + 1,
      ...(after !== undefined && { after: { deviceId: after[0], value: after[1] } }),
    })
    const shown = places.slice(0, limit)
    const last = places.length > limit ? shown.at(-1) : undefined
    const deviceIds = shown.map(({ deviceId }) => deviceId)
    await answerInParts(ctx, {
      name: 'items',
      parts: viewsOf({ accountId, deviceIds }, now),
      after: () => ({
        nextCursor: last === undefined ? null : writeCursor(list, [last.deviceId, last.value]),
      }),
    })
  }

  /** Devices that were erased meanwhile are left out. */
  async function* viewsOf(
    { accountId, deviceIds }: { accountId: string; deviceIds: readonly string[] },
    now: number,
  ): AsyncGenerator<object[], void> {
    for (let at = 0; at < deviceIds.length; at += FOUND_AT_ONCE) {
      const some = deviceIds.slice(at, at + FOUND_AT_ONCE)
      const devices = await store.findDevices({ accountId, deviceIds: some })
      const byDeviceId = new Map(devices.map((device) => [device.status.deviceId, device]))
      yield some.flatMap((deviceId) => {
        const device = byDeviceId.get(deviceId)
        return device === undefined ? [] : [deviceView(device, now)]
      })
    }
  }

  async function summarize(ctx: AdminContext, caller: Caller): Promise<void> {
    const { accountId } = caller
    const devices = deviceList(caller)
    const now = clock.now()
    const counts = await store.countDevices({
      accountId,
      now,
      ...(devices !== undefined && { devices }),
    })
    succeed(ctx, { ...counts, asOf: isoTime(now) })
  }

  async function show(ctx: AdminContext, caller: Caller): Promise<void> {
    const deviceId = pathParameter(ctx, 'deviceId')
    succeed(ctx, deviceView(await requireDevice(store, caller, deviceId), clock.now()))
  }

  async function change(
    ctx: AdminContext,
    caller: Caller,
    { body: change }: Input<object, InputOf<typeof CHANGES>>,
  ): Promise<void> {
    requireChange(change, CHANGES)
    if (change.disabled !== undefined) requireRight(caller, { needs: 'admin', what: 'disabled' })
    const { accountId } = caller
    const deviceId = pathParameter(ctx, 'deviceId')
    const lives = await store.livesOf({ accountId, deviceIds: [deviceId] })
    const device = await requireKnownDevice(store, caller, deviceId)
    const settings = await store.changeDeviceSettings({
      accountId,
      deviceId,
      life: lives.get(deviceId),
      changedAt: clock.now(),
      ...change,
    })
    if (settings === undefined) throw noSuchDevice()
    await recordAction(
      ctx,
      caller,
      {
        action: 'device.changed',
        subject: { kind: 'device', id: deviceId },
        details: { ...change },
        lives: new Map([[deviceId, lives.get(deviceId)]]),
      },
      { store, clock },
    )
    succeed(
      ctx,
      device === 'gone by age'
        ? goneDeviceView(deviceId, settings)
        : deviceView({ ...device, settings }, clock.now()),
    )
  }

  const scope = 'devices:read'
  return [
    route({
      method: 'GET',
      path: '/devices',
      summary: 'Lists devices with their status',
      description: LIST_DESCRIPTION,
      needs: 'viewer',
      scope,
      query: LIST_PARAMETERS,
      compressed: true,
      answer: { data: pageOf(DEVICE) },
      handle: list,
    }),
    {
      method: 'GET',
      path: '/devices/summary',
      summary: 'How many devices there are of each status',
      description: 'A device that is called `summary` is found at `/devices/%73ummary`.',
      needs: 'viewer',
      scope,
      answer: { data: DEVICE_SUMMARY },
      handle: summarize,
    },
    {
      method: 'GET',
      path: '/devices/:deviceId',
      summary: 'One device with its status',
      needs: 'viewer',
      scope,
      answer: { data: DEVICE },
      handle: show,
    },
    route({
      method: 'PATCH',
      path: '/devices/:deviceId',
      summary: 'Names and labels a device, disables it, says how often it reports',
      description: CHANGE_DESCRIPTION,
      needs: 'dispatcher',
      body: CHANGES,
      bodyExample: { name: 'Ferry', expectedIntervalSeconds: 60, labels: ['night shift'] },
      answer: { data: CHANGED_DEVICE },
      handle: change,
    }),
  ]
}

/** @throws {ApiError} 404 unless the account has this device and the caller may see it. */
export async function requireDevice(
  store: Pick<Store, 'findDevice'>,
  caller: Caller,
  deviceId: string,
): Promise<Device> {
  const device = isListed(deviceList(caller), deviceId)
    ? await store.findDevice({ accountId: caller.accountId, deviceId })
    : undefined
  if (device === undefined) throw noSuchDevice()
  return device
}

function noSuchDevice(): ApiError {
  return new ApiError('NOT_FOUND', 'there is no device with this deviceId')
}

/**
 * Like `requireDevice`, but also finds a disabled device whose data has expired, so that it can be
 * enabled or erased: otherwise nobody could undo the disabling.
 */
export async function requireKnownDevice(
  store: Pick<Store, 'findDevice' | 'isDisabled'>,
  caller: Caller,
  deviceId: string,
): Promise<Device | 'gone by age'> {
  const { accountId } = caller
  const device = isListed(deviceList(caller), deviceId)
    ? ((await store.findDevice({ accountId, deviceId })) ??
      ((await store.isDisabled({ accountId, deviceId })) && 'gone by age'))
    : false
  if (device === false) throw noSuchDevice()
  return device
}

const DEVICE: JsonSchema = objectOf(
  {
    deviceId: { type: 'string' },
    name: { type: ['string', 'null'] },
    status: { enum: ['online', 'idle', 'offline'] },
    lastSeenAt: {
      ...TIME,
      description:
        'The newest receipt of its records, their repeats and heartbeats; imported ones count by their own time',
    },
    firstSeenAt: TIME,
    reportCount: { type: 'integer', description: 'Stored records, each once' },
    disabled: { type: 'boolean', description: 'Its reports are refused' },
    expectedIntervalSeconds: { type: 'number' },
    labels: LABELS,
    lastKeyId: {
      type: 'string',
      description:
        'The key that its newest report, or heartbeat, was sent with; absent if all were imported, or version 0.2.0 received it',
    },
    lastPosition: POSITION,
    telemetry: TELEMETRY,
  },
  { title: 'Device', optional: ['expectedIntervalSeconds', 'lastKeyId', 'telemetry'] },
)

const COUNT: JsonSchema = { type: 'integer', minimum: 0 }

const DEVICE_SUMMARY: JsonSchema = objectOf(
  {
    total: { ...COUNT, description: 'The sum of online, idle and offline' },
    online: COUNT,
    idle: COUNT,
    offline: COUNT,
    disabled: { ...COUNT, description: 'Disabled devices; they have a status too' },
    asOf: { ...TIME, description: 'When the statuses were computed' },
  },
  { title: 'DeviceSummary' },
)

const CHANGED_DEVICE: JsonSchema = {
  ...DEVICE,
  title: 'ChangedDevice',
  required: ['deviceId', 'name', 'status', 'reportCount', 'disabled', 'labels'],
}

/** The device status as the API shows it, seen from `now`. */
export function deviceView(device: Device, now: number) {
  const { status, settings } = device
  const { expectedIntervalSeconds } = settings
  const telemetry = telemetryOf(status)
  return {
    deviceId: status.deviceId,
    name: settings.name ?? null,
    status: liveness(device, now),
    lastSeenAt: isoTime(status.lastSeenAt),
    firstSeenAt: isoTime(status.firstSeenAt),
    reportCount: status.reportCount,
    disabled: settings.disabled,
    ...(expectedIntervalSeconds !== undefined && { expectedIntervalSeconds }),
    labels: settings.labels ?? [],
    ...(status.lastKeyId !== '' && { lastKeyId: status.lastKeyId }),
    lastPosition: positionView(status.lastPosition),
    ...(telemetry !== undefined && { telemetry: telemetryView(telemetry) }),
  }
}

function goneDeviceView(deviceId: string, settings: Device['settings']) {
  const { name = null, labels = [], ...others } = settings
  return { deviceId, name, status: 'offline', reportCount: 0, labels, ...others }
}
