import { useEffect, useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { faultAt } from '../../core/failure.ts'
import { countText } from '../../core/measures.ts'
import { fleet, startLive } from '../../live/live.ts'
import { Field } from '../../ui/form.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { useLoad } from '../../ui/use-load.ts'

/** The devices of a geofence or a rule: named, or with one of the labels; without both, all. */
export type Whom = {
  readonly deviceIds?: readonly string[]
  readonly labels?: readonly string[]
}

/** `All devices`, `Label freezer`, `2 labels, 3 devices`. */
export function whomText({ deviceIds, labels }: Whom): string {
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

/** The choice of devices in a form; `read` gives what was chosen, for the API. */
export function useWhom(first: Whom) {
  useEffect(startLive, [])
  const [isSome, setSome] = useState(first.deviceIds !== undefined || first.labels !== undefined)
  const [labels, setLabels] = useState<readonly string[]>(first.labels ?? [])
  const [typed, setTyped] = useState(() => (first.deviceIds ?? []).map(nameOf).join('\n'))
  const known = useLoad((signal) => api.get('/labels', { signal }), []).data?.items ?? []
  const offered = new Set([...known.map(({ label }) => label), ...labels])

  /** @throws {ApiFailure} for a device that does not exist, or no choice. */
  function read(): { deviceIds: string[] | null; labels: string[] | null } {
    const lines = typed.split('\n').map((line) => line.trim())
    const deviceIds = lines.filter(Boolean).map((line) => idOf(line, first.deviceIds ?? []))
    if (!isSome) return { deviceIds: null, labels: null }
    if (deviceIds.length === 0 && labels.length === 0) {
      throw faultAt('deviceIds', 'Choose a label or a device.')
    }
    return {
      deviceIds: deviceIds.length > 0 ? [...new Set(deviceIds)] : null,
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
      {isSome && offered.size > 0 && (
        <div class="row" role="group" aria-label="With one of these labels">
          {[...offered].map((label) => (
            <label key={label} class="check">
              <input
                type="checkbox"
                checked={labels.includes(label)}
                onChange={({ currentTarget: { checked } }) =>
                  setLabels(checked ? [...labels, label] : labels.filter((one) => one !== label))
                }
              />
              <Isolated>{label}</Isolated>
            </label>
          ))}
        </div>
      )}
      {isSome && (
        <Field name="deviceIds" label="Devices" hint="Names or ids, one a line.">
          {(attributes) => (
            <textarea
              {...attributes}
              rows={2}
              spellcheck={false}
              value={typed}
              onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            />
          )}
        </Field>
      )}
    </fieldset>
  )
  return { fields, read }
}

/** A device that was chosen before may have been erased. */
function idOf(text: string, before: readonly string[]): string {
  if (fleet.devices.has(text) || before.includes(text)) return text
  const [device, another] = [...fleet.devices.values()].filter(({ name }) => name === text)
  if (device === undefined) throw faultAt('deviceIds', `No device is called ${text}.`)
  if (another !== undefined) {
    throw faultAt('deviceIds', `More than one device is called ${text}: enter its id.`)
  }
  return device.deviceId
}
