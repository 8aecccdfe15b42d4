import { useEffect, useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { fieldFailure } from '../../core/failure.ts'
import { countText } from '../../core/measures.ts'
import { fleet, startLive } from '../../live/live.ts'
import { CheckGroup } from '../../ui/choice-fields.tsx'
import { PickMany, type PickOption } from '../../ui/pick.tsx'
import { useLoad } from '../../ui/use-load.ts'

/**
 * The devices of a geofence or a rule: named devices, or those with one of the labels; without
 * both, all.
 */
export type Whom = {
  readonly deviceIds?: readonly string[]
  readonly labels?: readonly string[]
}

/** `All devices`, `Label freezer`, `2 labels, 3 devices`. */
export function describeDevices({ deviceIds, labels }: Whom): string {
  if (deviceIds === undefined && labels === undefined) return 'All devices'
  return [
    labels && labels.length > 0 && `Label ${labels.join(' or ')}`,
    deviceIds &&
      (deviceIds.length === 1 ? nameOf(deviceIds[0]!) : countText(deviceIds.length, 'device')),
  ]
    .filter(Boolean)
    .join(', ')
}

function nameOf(deviceId: string): string {
  return fleet.devices.get(deviceId)?.name ?? deviceId
}

/** The choice of devices in a form; `read` returns the selection, for the API. */
export function useWhom(first: Whom) {
  useEffect(startLive, [])
  const [isSome, setSome] = useState(first.deviceIds !== undefined || first.labels !== undefined)
  const [labels, setLabels] = useState<readonly string[]>(first.labels ?? [])
  const [devices, setDevices] = useState<readonly string[]>(first.deviceIds ?? [])
  const known = useLoad((signal) => api.get('/labels', { signal }), []).data?.items ?? []
  const offered = [...new Set([...known.map(({ label }) => label), ...labels])]

  /** @throws {ApiFailure} if nothing is selected. */
  function read(): { deviceIds: string[] | null; labels: string[] | null } {
    if (!isSome) return { deviceIds: null, labels: null }
    if (devices.length === 0 && labels.length === 0) {
      throw fieldFailure('deviceIds', 'Choose a label or a device.')
    }
    return {
      deviceIds: devices.length > 0 ? [...devices] : null,
      labels: labels.length > 0 ? [...labels] : null,
    }
  }

  const fields = (
    <fieldset class="stack near">
      <legend>For</legend>
      {[false, true].map((one) => (
        <label key={String(one)} class="check">
          <input type="radio" name="whom" checked={isSome === one} onChange={() => setSome(one)} />
          {one ? 'Some devices' : 'All devices'}
        </label>
      ))}
      {isSome && offered.length > 0 && (
        <CheckGroup
          name="labels"
          label="With one of these labels"
          class="row"
          options={offered.map((label) => [label, label] as const)}
          chosen={labels}
          set={setLabels}
        />
      )}
      {isSome && (
        <PickMany
          name="deviceIds"
          label="Devices"
          placeholder="Name or id"
          find={findDevices}
          chosen={devices}
          wordsOf={nameOf}
          set={setDevices}
        />
      )}
    </fieldset>
  )
  return { fields, read }
}

const FOUND = 20

/** Finds devices by words of their names or ids. */
export async function findDevices(
  typed: string,
  signal: AbortSignal,
): Promise<readonly PickOption[]> {
  const query = { limit: FOUND, ...(typed !== '' && { q: typed }) }
  const { items } = await api.get('/devices', { query, signal })
  return items.map(({ deviceId, name }) => ({
    value: deviceId,
    words: name ?? deviceId,
    ...(name !== null && { note: deviceId }),
  }))
}
