import { useEffect, useState } from 'preact/hooks'
import { Plus, X } from 'lucide'
import { api } from '../../api/client.ts'
import { labelOf } from '../../core/live-device.ts'
import { Field } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Isolated } from '../../ui/isolated.tsx'
import { FailedLine } from '../../ui/states.tsx'
import { useLoad } from '../../ui/use-load.ts'
import './device-picker.css'

export type Pickable = { readonly deviceId: string; readonly name: string | null }

const SHOWN = 6
const TYPED_MS = 200

/** Picks some of the account's devices, by name or id. */
export function DevicePicker({
  chosen,
  choose,
}: {
  chosen: readonly Pickable[]
  choose: (devices: readonly Pickable[]) => void
}) {
  const [typed, setTyped] = useState('')
  const q = useLater(typed.trim(), TYPED_MS)
  const { data, failure } = useLoad(
    (signal) =>
      api.get('/devices', { query: { limit: SHOWN + chosen.length, ...(q && { q }) }, signal }),
    [q, chosen.length],
  )
  const known = new Set(chosen.map(({ deviceId }) => deviceId))
  const found = (data?.items ?? []).filter(({ deviceId }) => !known.has(deviceId)).slice(0, SHOWN)

  function add({ deviceId, name }: Pickable) {
    choose([...chosen, { deviceId, name }])
    setTyped('')
  }

  return (
    <div class="device-picker stack near">
      <Field
        name="deviceIds"
        label="Devices"
        hint="1 to 50, found by name or id. Their names are shown, their ids are not."
      >
        {(attributes) => (
          <input
            {...attributes}
            type="search"
            placeholder="Name or id"
            autoComplete="off"
            spellcheck={false}
            maxLength={128}
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              event.preventDefault()
              if (found[0] !== undefined) add(found[0])
            }}
          />
        )}
      </Field>
      {failure !== undefined && <FailedLine failure={failure} />}
      <ul class="box" aria-label="Found devices">
        {found.map((device) => (
          <li key={device.deviceId}>
            <button type="button" class="plain" onClick={() => add(device)}>
              <Icon of={Plus} small />
              <span class="unseen">Add </span>
              <Isolated class="one-line">{labelOf(device)}</Isolated>
              {device.name !== null && (
                <Isolated class="one-line quiet">{device.deviceId}</Isolated>
              )}
            </button>
          </li>
        ))}
      </ul>
      {data !== undefined && found.length === 0 && (
        <p class="quiet">{q === '' ? 'There is no other device.' : 'No other device matches.'}</p>
      )}
      <ul class="chosen row" aria-label="Chosen devices">
        {chosen.map((device) => (
          <li key={device.deviceId}>
            <button
              type="button"
              class="small"
              onClick={() => choose(chosen.filter((one) => one !== device))}
            >
              <span class="unseen">Remove </span>
              <Isolated class="one-line">{labelOf(device)}</Isolated>
              <Icon of={X} small />
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The text once it has not changed for this long. */
function useLater(text: string, ms: number): string {
  const [later, setLater] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setLater(text), ms)
    return () => clearTimeout(timer)
  }, [text, ms])
  return later
}
