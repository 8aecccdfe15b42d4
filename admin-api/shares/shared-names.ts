import type { Share } from '../../store/back-office.ts'
import type { Store } from '../../store/store.ts'

/** So many devices are named in the title of a share without a name. */
const NAMED_IN_TITLE = 3

export type SharedName = { readonly ref: string; readonly name: string }

/** The names of a share's devices, by deviceId, in its order. */
export async function sharedNames(
  share: Share,
  store: Pick<Store, 'findDevices'>,
): Promise<ReadonlyMap<string, SharedName>> {
  return namesIn(share, await ownNames([share], store))
}

/** The name of a share, or else those of its devices. */
export function shareTitle(
  { name }: Share,
  names: ReadonlyMap<string, Pick<SharedName, 'name'>>,
): string {
  if (name !== undefined) return name
  const all = [...names.values()].map((device) => device.name)
  const isLong = all.length > NAMED_IN_TITLE
  const named = isLong ? all.slice(0, NAMED_IN_TITLE - 1) : all.slice(0, -1)
  const last = isLong ? `${all.length - named.length} more` : (all.at(-1) ?? 'No device')
  return named.length === 0 ? last : `${named.join(', ')} and ${last}`
}

/** The titles of shares of one account, by share id. */
export async function shareTitles(
  shares: readonly Share[],
  store: Pick<Store, 'findDevices'>,
): Promise<ReadonlyMap<string, string>> {
  const unnamed = shares.filter(({ name }) => name === undefined)
  const names = await ownNames(unnamed, store)
  return new Map(shares.map((share) => [share.id, shareTitle(share, namesIn(share, names))]))
}

function namesIn({ devices }: Share, names: ReadonlyMap<string, string | undefined>) {
  return new Map(
    devices.map(({ deviceId, ref, name }, n) => [
      deviceId,
      { ref, name: name ?? names.get(deviceId) ?? `Device ${n + 1}` },
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
  const found = await store.findDevices({ accountId, deviceIds: [...new Set(devices)] })
  return new Map(found.map(({ status, settings }) => [status.deviceId, settings.name]))
}
