import { nameOnLink, NAMED_IN_TITLE, titleOfDevices } from '../../schemas/access/share-names.ts'
import type { Share } from '../../store/back-office.ts'
import type { Store } from '../../store/store.ts'

export type SharedName = { readonly ref: string; readonly name: string }

const NONE: ReadonlyMap<string, SharedName> = new Map()

/** The names of a share's devices, by deviceId, in its order. */
export async function sharedNames(
  share: Share,
  store: Pick<Store, 'findDevices'>,
): Promise<ReadonlyMap<string, SharedName>> {
  return namesIn(share, await ownNames([share], store))
}

/** The name of a share, or else those of its devices. */
export function shareTitle(
  { name, devices }: Share,
  names: ReadonlyMap<string, Pick<SharedName, 'name'>>,
): string {
  const shown = [...names.values()].map((device) => device.name)
  return name ?? titleOfDevices(shown, devices.length)
}

/** The titles of shares of one account, by share id. Only the devices that they name are read. */
export async function shareTitles(
  shares: readonly Share[],
  store: Pick<Store, 'findDevices'>,
): Promise<ReadonlyMap<string, string>> {
  const unnamed = shares
    .filter(({ name }) => name === undefined)
    .map((share) => ({ ...share, devices: share.devices.slice(0, NAMED_IN_TITLE) }))
  const own = await ownNames(unnamed, store)
  const names = new Map(unnamed.map((share) => [share.id, namesIn(share, own)]))
  return new Map(shares.map((share) => [share.id, shareTitle(share, names.get(share.id) ?? NONE)]))
}

function namesIn({ devices }: Share, names: ReadonlyMap<string, string | undefined>) {
  return new Map(
    devices.map(({ deviceId, ref, name }, n) => [
      deviceId,
      { ref, name: nameOnLink({ given: name, own: names.get(deviceId) }, n) },
    ]),
  )
}

async function ownNames(
  shares: readonly Share[],
  store: Pick<Store, 'findDevices'>,
): Promise<ReadonlyMap<string, string | undefined>> {
  const [accountId] = shares.map((share) => share.accountId)
  if (accountId === undefined) return new Map()
  const devices = shares.flatMap((share) => share.devices.map(({ deviceId }) => deviceId))
  const knownDevices = await store.findDevices({ accountId, deviceIds: [...new Set(devices)] })
  return new Map(knownDevices.map(({ status, settings }) => [status.deviceId, settings.name]))
}
