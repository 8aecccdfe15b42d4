import { randomBytes } from 'node:crypto'
import type { EventLog } from '../../event-log/event-log.ts'
import type { Clock } from '../../runtime/clock.ts'
import { succeed } from '../../runtime/http/http.ts'
import { ulid } from '../../schemas/events/record-id.ts'
import type { Store } from '../../store/store.ts'
import { pathParameter, type AdminContext, type AdminRoute } from '../http/admin-route.ts'
import type { Caller } from '../http/caller.ts'
import { requireKnownDevice } from './require-device.ts'
import { recordAction } from '../http/record-action.ts'
import { isoTime, TIME } from '../http/views.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'

type DeviceId = { readonly accountId: string; readonly deviceId: string }

/** Erases devices, with everything stored about them. */
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
    const device = { accountId: caller.accountId, deviceId: pathParameter(ctx, 'deviceId') }
    const erasedAt = (await cutShort(device)) ?? (await eraseKnown(caller, device))
    const { deviceId } = device
    await store.unshareDevice({ ...device, sharedUpTo: erasedAt })
    await store.finishErasures(device)
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

  async function eraseKnown(caller: Caller, device: DeviceId): Promise<number> {
    await requireKnownDevice(store, caller, device.deviceId)
    const erasedAt = clock.now()
    const erasure = { eventId: ulid(erasedAt, randomBytes(10)), ...device, erasedAt }
    await store.announceErasure(erasure)
    // Done before hiding the device: a device hidden but not erased would stay invisible forever.
    await eventLog.erase(erasure)
    await store.hideErased(erasure)
    return erasedAt
  }

  /**
   * The time of the erasure, if the device is erased but the audit does not mention it: an earlier
   * call was interrupted, and this repeated call completes it.
   */
  async function cutShort({ accountId, deviceId }: DeviceId): Promise<number | undefined> {
    const erasures = await store.erasuresOf({ accountId, deviceIds: [deviceId] })
    const from = erasures.get(deviceId)?.erasedAt
    if (from === undefined) return undefined
    if ((await store.findDevice({ accountId, deviceId })) !== undefined) return undefined
    const done = { accountId, subjectId: deviceId, action: 'device.erased', from, limit: 1 }
    return (await store.pageAudit(done)).entries.length === 0 ? from : undefined
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
Removes its status, its records and its settings (name, labels, expected interval, \`disabled\`), and removes it from
links, geofences and rules. From this response on they are absent (404), including records in transit and concurrent changes,
until the device reports again and starts afresh. The audit still shows who changed the device and when, but not its name and
labels, nor the titles of links that showed it; its rejected reports are gone. Log entries remain until the log's retention ends.
`.trim()

const ERASURE = objectOf(
  { deviceId: { type: 'string' }, erasedAt: TIME },
  { title: 'DeviceErasure' },
)
