import Joi from 'joi'
import type { Clock } from '../runtime/clock.ts'
import { ApiError, invalidParams } from '../runtime/errors.ts'
import { succeed } from '../runtime/http.ts'
import { liveness, type Device } from '../schemas/read-models.ts'
import type { Store } from '../store/store.ts'
import { pathParameter, type AdminContext, type AdminRoute } from './admin-route.ts'
import { answerPage } from './answer-page.ts'
import { readBody } from './body.ts'
import type { Caller } from './caller.ts'
import { readCursor } from './cursor.ts'
import { PAGE_PARAMETERS, readQuery } from './query.ts'
import { nameRule } from './rules.ts'
import { isoTime, positionView } from './views.ts'

type Change = {
  readonly name?: string | null
  readonly disabled?: boolean
  readonly expectedIntervalSeconds?: number | null
}

const LONGEST_INTERVAL_SECONDS = 366 * 24 * 60 * 60

const CHANGES = {
  name: nameRule('name').allow(null),
  disabled: Joi.boolean().messages({ '*': 'disabled must be true or false' }),
  expectedIntervalSeconds: Joi.number()
    .greater(0)
    .max(LONGEST_INTERVAL_SECONDS)
    .allow(null)
    .messages({
      '*': `expectedIntervalSeconds must be a number of seconds above 0, at most ${LONGEST_INTERVAL_SECONDS}, or null`,
    }),
}

/** Where devices are and how they are doing, and what operators say of them. */
export function deviceRoutes({ store, clock }: { store: Store; clock: Clock }): AdminRoute[] {
  async function list(ctx: AdminContext, { accountId }: Caller): Promise<void> {
    const { limit, cursor } = readQuery<{ limit: number; cursor?: string }>(ctx, PAGE_PARAMETERS)
    const list = { name: 'devices', accountId }
    const [after] = readCursor(cursor, list, ['text']) ?? []
    const items = await store.pageDevices({
      accountId,
      limit: limit + 1,
      ...(after !== undefined && { after }),
    })
    const now = clock.now()
    answerPage(ctx, {
      list,
      limit,
      items,
      placeOf: ({ status }) => [status.deviceId],
      view: (device) => deviceView(device, now),
    })
  }

  async function show(ctx: AdminContext, { accountId }: Caller): Promise<void> {
    const deviceId = pathParameter(ctx, 'deviceId')
    readQuery(ctx, {})
    succeed(ctx, deviceView(await requireDevice(store, { accountId, deviceId }), clock.now()))
  }

  async function change(ctx: AdminContext, { accountId }: Caller): Promise<void> {
    const deviceId = pathParameter(ctx, 'deviceId')
    readQuery(ctx, {})
    const change = await readBody<Change>(ctx, CHANGES)
    if (Object.keys(change).length === 0) {
      const message = `the body must have one or more of ${Object.keys(CHANGES).join(', ')}`
      throw invalidParams([{ field: 'body', message }])
    }
    const { status } = await requireDevice(store, { accountId, deviceId })
    const settings = await store.changeDeviceSettings({ accountId, deviceId, ...change })
    succeed(ctx, deviceView({ status, settings }, clock.now()))
  }

  const scope = 'devices:read'
  return [
    { method: 'GET', path: '/devices', needs: 'viewer', scope, handle: list },
    { method: 'GET', path: '/devices/:deviceId', needs: 'viewer', scope, handle: show },
    { method: 'PATCH', path: '/devices/:deviceId', needs: 'admin', handle: change },
  ]
}

/** @throws {ApiError} 404 unless the account has this device. */
export async function requireDevice(
  store: Pick<Store, 'findDevice'>,
  query: { accountId: string; deviceId: string },
): Promise<Device> {
  const device = await store.findDevice(query)
  if (device === undefined) throw new ApiError('NOT_FOUND', 'there is no device with this deviceId')
  return device
}

/** The device status as the API shows it, seen from `now`. */
export function deviceView(device: Device, now: number) {
  const { status, settings } = device
  const { expectedIntervalSeconds } = settings
  return {
    deviceId: status.deviceId,
    name: settings.name ?? null,
    status: liveness(device, now),
    lastSeenAt: isoTime(status.lastSeenAt),
    firstSeenAt: isoTime(status.firstSeenAt),
    reportCount: status.reportCount,
    disabled: settings.disabled,
    ...(expectedIntervalSeconds !== undefined && { expectedIntervalSeconds }),
    lastPosition: positionView(status.lastPosition),
  }
}
