import type { Clock } from '../../runtime/clock.ts'
import { succeed } from '../../runtime/http/http.ts'
import type { JsonSchema } from '../../runtime/openapi/json-schema.ts'
import type { Device } from '../../schemas/devices/read-models.ts'
import type { Store } from '../../store/store.ts'
import {
  pathParameter,
  route,
  type AdminContext,
  type AdminRoute,
  type Input,
} from '../http/admin-route.ts'
import { requireChange } from '../http/body.ts'
import type { Caller } from '../http/caller.ts'
import { nameRule } from '../http/name-rule.ts'
import { recordAction } from '../http/record-action.ts'
import { requireRight } from '../http/rights.ts'
import { flag, numberBetween, type InputOf } from '../http/rule.ts'
import { DEVICE, deviceView } from './device-view.ts'
import { labelsRule } from './label-rules.ts'
import { deviceNotFound, requireDevice, requireKnownDevice } from './require-device.ts'
import { NO_STANDINGS, standingsOf } from './standings.ts'

const LONGEST_INTERVAL_SECONDS = 366 * 24 * 60 * 60

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

const CHANGE_DESCRIPTION = `
\`disabled\` needs the role admin. \`labels\` replaces all labels of the device; \`[]\` removes them. A disabled
device that retention has removed can still be enabled.
`.trim()

/** Calls that return one device with its status, and change its settings. */
export function deviceRoutes({ store, clock }: { store: Store; clock: Clock }): AdminRoute[] {
  async function show(ctx: AdminContext, caller: Caller): Promise<void> {
    const deviceId = pathParameter(ctx, 'deviceId')
    const { accountId } = caller
    const device = await requireDevice(store, caller, deviceId)
    const standings = await standingsOf(store, { accountId, deviceIds: [deviceId] })
    const { inside, raised } = standings.get(deviceId) ?? NO_STANDINGS
    succeed(ctx, { ...deviceView(device, clock.now()), inside, raised })
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
    if (settings === undefined) throw deviceNotFound()
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
        ? viewExpiredDevice(deviceId, settings)
        : deviceView({ ...device, settings }, clock.now()),
    )
  }

  return [
    {
      method: 'GET',
      path: '/devices/:deviceId',
      summary: 'Returns a device with its status',
      needs: 'viewer',
      scope: 'devices:read',
      answer: { data: DEVICE },
      handle: show,
    },
    route({
      method: 'PATCH',
      path: '/devices/:deviceId',
      summary: 'Changes a device’s name, labels, expected interval and whether it is disabled',
      description: CHANGE_DESCRIPTION,
      needs: 'dispatcher',
      body: CHANGES,
      bodyExample: { name: 'Ferry', expectedIntervalSeconds: 60, labels: ['night shift'] },
      answer: { data: CHANGED_DEVICE },
      handle: change,
    }),
  ]
}

const CHANGED_DEVICE: JsonSchema = {
  ...DEVICE,
  title: 'ChangedDevice',
  required: ['deviceId', 'name', 'status', 'reportCount', 'disabled', 'labels'],
}

function viewExpiredDevice(deviceId: string, settings: Device['settings']) {
  const { name = null, labels = [], ...others } = settings
  return { deviceId, name, status: 'offline', reportCount: 0, labels, ...others }
}
