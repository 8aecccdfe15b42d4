import { randomBytes } from 'node:crypto'
import type { EventLog } from '../../event-log/event-log.ts'
import type { Clock } from '../../runtime/clock.ts'
import { succeed } from '../../runtime/http.ts'
import { ulid } from '../../schemas/record-id.ts'
import type { Store } from '../../store/store.ts'
import { pathParameter, type AdminContext, type AdminRoute } from '../http/admin-route.ts'
import type { Caller } from '../http/caller.ts'
import { requireKnownDevice } from './devices.ts'
import { recordAction } from '../http/record-action.ts'
import { isoTime, TIME } from '../http/views.ts'

/** Erasing devices, with everything stored about them. */
export function eraseDeviceRoutes({
  store,
  eventLog,
  clock,
}: {
  store: Store
  eventLog: Pick<EventLog, 'erase'>
  clock: Clock
}): AdminRoute[] {
  async function erase(ctx: AdminContext, caller: Caller): Promise<void> {
    const { accountId } = caller
    const deviceId = pathParameter(ctx, 'deviceId')
    await requireKnownDevice(store, caller, deviceId)
    const erasedAt = clock.now()
    const erasure = {
      eventId: ulid(erasedAt, randomBytes(10)),
      accountId,
      deviceId,
      erasedAt,
    }
    // The log first: a device hidden but not erased would stay invisible forever.
    await eventLog.erase(erasure)
    await store.hideErased(erasure)
    await store.unshareDevice(erasure)
    await recordAction(
      ctx,
      caller,
      { action: 'device.erased', subject: { kind: 'device', id: deviceId } },
      { store, clock },
    )
    succeed(
      ctx,
      { deviceId, erasedAt: isoTime(erasedAt) },
      { status: 202, message: 'the device and its records are gone from now on' },
    )
  }

  return [
    {
      method: 'DELETE',
      path: '/devices/:deviceId',
      summary: 'Erases a device and all its records',
      description: DESCRIPTION,
      needs: 'admin',
      answer: { status: 202, data: ERASURE },
      handle: erase,
    },
  ]
}

const DESCRIPTION = `
Its status, its records and what operators said of it go. From this answer on they are absent (404),
also what was on its way, until the device reports anew: then it starts afresh. The events stay in
the log until its retention ends.
`.trim()

const ERASURE = {
  title: 'DeviceErasure',
  type: 'object',
  required: ['deviceId', 'erasedAt'],
  properties: { deviceId: { type: 'string' }, erasedAt: TIME },
  additionalProperties: false,
}
