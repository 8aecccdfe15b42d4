import type { Share } from '../../store/back-office.ts'
import type { JsonSchema } from '../http/admin-route.ts'
import { isoTime, TIME } from '../http/views.ts'
import { objectOf } from '../../runtime/openapi/json-schema.ts'
import { nameOnLink, NAMED_IN_TITLE, titleOfDevices } from '../../schemas/access/share-names.ts'
import type { Store } from '../../store/store.ts'

/** A share as operators see it, without the token. */
export function shareView(share: Share, title: string, now: number) {
  const { id, devices, trailMinutes, createdAt, expiresAt } = share
  const { showsNow = false, showsStreets = false } = share
  return {
    id,
    name: title,
    status: now < expiresAt ? 'active' : 'expired',
    deviceIds: devices.map(({ deviceId }) => deviceId),
    names: Object.fromEntries(
      devices.flatMap(({ deviceId, name }) => (name === undefined ? [] : [[deviceId, name]])),
    ),
    trailMinutes,
    showsNow,
    showsStreets,
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt),
  }
}

const PROPERTIES = {
  id: { type: 'string', description: 'ULID' },
  name: { type: 'string', description: 'The share’s name, or else the names of its devices' },
  status: { enum: ['active', 'expired'] },
  deviceIds: { type: 'array', items: { type: 'string' }, description: 'Without erased ones' },
  names: {
    type: 'object',
    description: 'The names of devices on this link, by deviceId',
    additionalProperties: { type: 'string' },
  },
  trailMinutes: { type: 'integer' },
  showsNow: {
    type: 'boolean',
    description: 'Whether it showed the last known positions from the start',
  },
  showsStreets: {
    type: 'boolean',
    description: 'Whether its page loads streets from OpenStreetMap',
  },
  createdAt: TIME,
  expiresAt: TIME,
}

export const SHARE: JsonSchema = objectOf(PROPERTIES, { title: 'Share' })

export const SHARE_WITH_TOKEN: JsonSchema = objectOf(
  {
    ...PROPERTIES,
    token: { type: 'string', description: 'The secret of the link, shown only in this response' },
  },
  { title: 'ShareWithToken' },
)

export type SharedName = { readonly ref: string; readonly name: string }

const NONE: ReadonlyMap<string, SharedName> = new Map()

/** The names of a share's devices, by deviceId, in the share's order. */
export async function listSharedNames(
  share: Share,
  store: Pick<Store, 'findDevices'>,
): Promise<ReadonlyMap<string, SharedName>> {
  return listNames(share, await readDeviceNames([share], store))
}

/** The name of a share, or else the names of its devices. */
export function shareTitle(
  { name, devices }: Share,
  names: ReadonlyMap<string, Pick<SharedName, 'name'>>,
): string {
  const shown = [...names.values()].map((device) => device.name)
  return name ?? titleOfDevices(shown, devices.length)
}

/** The titles of shares of one account, by share id. Only the devices they name are read. */
export async function shareTitles(
  shares: readonly Share[],
  store: Pick<Store, 'findDevices'>,
): Promise<ReadonlyMap<string, string>> {
  const unnamed = shares
    .filter(({ name }) => name === undefined)
    .map((share) => ({ ...share, devices: share.devices.slice(0, NAMED_IN_TITLE) }))
  const own = await readDeviceNames(unnamed, store)
  const names = new Map(unnamed.map((share) => [share.id, listNames(share, own)]))
  return new Map(shares.map((share) => [share.id, shareTitle(share, names.get(share.id) ?? NONE)]))
}

function listNames({ devices }: Share, names: ReadonlyMap<string, string | undefined>) {
  return new Map(
    devices.map(({ deviceId, ref, name }, n) => [
      deviceId,
      { ref, name: nameOnLink({ given: name, own: names.get(deviceId) }, n) },
    ]),
  )
}

async function readDeviceNames(
  shares: readonly Share[],
  store: Pick<Store, 'findDevices'>,
): Promise<ReadonlyMap<string, string | undefined>> {
  const [accountId] = shares.map((share) => share.accountId)
  if (accountId === undefined) return new Map()
  const devices = shares.flatMap((share) => share.devices.map(({ deviceId }) => deviceId))
  const knownDevices = await store.findDevices({ accountId, deviceIds: [...new Set(devices)] })
  return new Map(knownDevices.map(({ status, settings }) => [status.deviceId, settings.name]))
}
